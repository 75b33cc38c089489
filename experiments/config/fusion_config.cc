#include "experiments/config/fusion_config.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

struct FusionClass {
  const char* name;
  bool Fusion::*member;
};
constexpr FusionClass kClasses[] = {{"qkv", &Fusion::qkv},
                                    {"attention", &Fusion::attention},
                                    {"ffn", &Fusion::ffn},
                                    {"residual", &Fusion::residual}};

std::vector<NamedFusion> MakeSettings() {
  std::vector<NamedFusion> settings = {{"all", Fusion()}};
  NamedFusion none = {"none", Fusion()};
  for (const FusionClass& one : kClasses) {
    settings.push_back({absl::StrCat("no_", one.name), Fusion()});
    settings.back().fusion.*one.member = false;
    none.fusion.*one.member = false;
  }
  settings.push_back(none);
  return settings;
}

}  // namespace

absl::StatusOr<Fusion> ReadFusion(const Json* json, const std::string& where) {
  Fusion fusion;
  if (json == nullptr) return fusion;
  ObjectReader reader(*json, where);
  for (const FusionClass& one : kClasses) fusion.*one.member = reader.Bool(one.name, true);
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return fusion;
}

Json FusionJson(const Fusion& fusion) {
  Json json;
  for (const FusionClass& one : kClasses) json[one.name] = fusion.*one.member;
  return json;
}

const std::vector<NamedFusion>& FusionSettings() {
  static const std::vector<NamedFusion> settings = MakeSettings();
  return settings;
}

absl::StatusOr<NamedFusion> FindFusion(const std::string& name) {
  std::vector<std::string> names;
  for (const NamedFusion& setting : FusionSettings()) {
    if (setting.name == name) return setting;
    names.push_back(setting.name);
  }
  const std::string nearest = Nearest(name, names);
  return absl::InvalidArgumentError(absl::StrCat("fusion: expected one of ", absl::StrJoin(names, ", "),
                                                 ", found \"", name, "\"",
                                                 nearest.empty() ? "" : "; nearest is " + nearest));
}

}  // namespace forerun
