// `--set path=value`: one value of a config changed on the command line, before the config is read.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/json.h"

namespace forerun {

// "arms.1.drafter.num_speculative_tokens=8": members by name, array entries by index. The value is JSON, or
// else taken as a string. Everything but the last step of the path must exist; array entries always must.
absl::Status ApplyOverride(absl::string_view assignment, Json* config);

}  // namespace forerun
