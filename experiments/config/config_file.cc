#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "experiments/config/config.h"
#include "experiments/config/config_overrides.h"

namespace forerun {

absl::StatusOr<ExperimentConfig> LoadConfig(absl::string_view path,
                                            const std::vector<std::string>& overrides) {
  FORERUN_ASSIGN_OR_RETURN(Json json, ReadJsonFile(path));
  for (const std::string& override : overrides) FORERUN_RETURN_IF_ERROR(ApplyOverride(override, &json));
  absl::StatusOr<ExperimentConfig> config = ReadConfig(json);
  if (!config.ok())
    return absl::Status(config.status().code(), absl::StrCat(path, ": ", config.status().message()));
  config->source = std::string(path);
  return config;
}

std::string FindConfigFile(const ExperimentConfig& config, absl::string_view name) {
  namespace fs = std::filesystem;
  const fs::path file = std::string(name);
  std::error_code error;
  if (file.is_absolute()) return fs::exists(file, error) ? file.string() : "";
  fs::path folder =
      fs::absolute(config.source.empty() ? "." : config.source, error).lexically_normal().parent_path();
  while (true) {
    if (fs::exists(folder / file, error)) return (folder / file).lexically_normal().string();
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return fs::exists(file, error) ? file.string() : "";
}

}  // namespace forerun
