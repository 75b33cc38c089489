#include "experiments/bench/ablation_config.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr int kMostTokens = 1 << 20;

absl::Status ReadRows(const Json& list, std::vector<int>& rows) {
  rows.clear();
  for (const Json& value : list) {
    const bool fits = value.is_number_integer() && value >= 1 && value <= 512;
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("rows: expected integers from 1 to 512, found ", DumpJson(value)));
    }
    rows.push_back(value.get<int>());
  }
  if (!rows.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("rows: expected at least one, found none");
}

absl::Status ReadSettings(const std::vector<std::string>& names, std::vector<NamedFusion>& settings) {
  settings = FusionSettings();
  if (names.empty()) return absl::OkStatus();
  settings.clear();
  for (const std::string& name : names) {
    FORERUN_ASSIGN_OR_RETURN(NamedFusion setting, FindFusion(name));
    settings.push_back(std::move(setting));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AblationConfig> ReadAblationConfig(const Json& json) {
  AblationConfig config;
  SpeedPlan& plan = config.plan;
  plan.rows = {1, 4, 8};
  ObjectReader reader(json, "");
  config.models = reader.Strings("models");
  if (config.models.empty()) reader.Fail("models", "at least one model's name");
  const std::vector<std::string> settings = reader.Strings("settings");
  plan.numerics = {reader.Choice("numerics", "a8", {"a8", "f32"})};
  const Json* rows = reader.Array("rows");
  plan.contexts = {static_cast<int>(reader.Int("context", 64, 0, kMostTokens))};
  plan.prefill = static_cast<int>(reader.Int("prefill", 512, 0, kMostTokens));
  plan.repeat = static_cast<int>(reader.Int("repeat", 5, 1, 1000));
  config.threads = static_cast<int>(reader.Int("threads", 0, 0, 256));
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  if (rows != nullptr) FORERUN_RETURN_IF_ERROR(ReadRows(*rows, plan.rows));
  FORERUN_RETURN_IF_ERROR(ReadSettings(settings, plan.fusions));
  return config;
}

}  // namespace forerun
