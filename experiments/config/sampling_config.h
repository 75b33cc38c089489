// The "sampling" object of a config: temperature and its kin, as JSON and back.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/json.h"
#include "core/sampling/sampling.h"

namespace forerun {

// Every key is optional; an unknown key or a value out of range is an error that starts with `where`.
absl::StatusOr<Sampling> ReadSampling(const Json& json, absl::string_view where);
// Every key, defaults included; ReadSampling() of it gives the same sampling.
Json SamplingJson(const Sampling& sampling);

}  // namespace forerun
