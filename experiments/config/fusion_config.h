// Fusion settings as configs and command lines write them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "core/model/fusion.h"

namespace forerun {

// {"qkv": true, "attention": true, "ffn": true, "residual": true}; null or a missing key: true.
absl::StatusOr<Fusion> ReadFusion(const Json* json, const std::string& where);
Json FusionJson(const Fusion& fusion);

struct NamedFusion {
  std::string name;
  Fusion fusion;
};
// "all", then each class by itself switched off ("no_qkv", ...), then "none".
const std::vector<NamedFusion>& FusionSettings();
// One of these names; InvalidArgument names the nearest.
absl::StatusOr<NamedFusion> FindFusion(const std::string& name);

}  // namespace forerun
