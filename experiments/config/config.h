// What an experiment is: which pair meets which prompts, in which arms. Read strictly: an unknown or
// contradictory key is an error, and every default is written into the resolved config. The keys:
// experiments/config/config.md.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/json.h"
#include "core/model/fusion.h"
#include "core/sampling/sampling.h"
#include "experiments/config/arm_config.h"

namespace forerun {

enum class PromptFormat { kRaw, kChat };

// Which runs stand between two runs of the baseline: all arms of a prompt together, or each arm by itself.
enum class Bracket { kPrompt, kArm };

struct PromptsConfig {
  std::string file;                     // as written in the config
  std::vector<std::string> categories;  // empty: all
  int per_category = 0;                 // 0: all
};

struct EngineConfig {
  std::string numerics = "a8";   // or "f32"
  std::string kv_dtype = "f16";  // or "f32"
  int kv_budget_mib = 512;
  int threads = 0;  // 0: all cores
  int prefill_chunk = 256;
  bool packed_cache = true;  // packed weights are kept beside the model
  std::string isa;           // empty: the widest that the machine has
  Fusion fusion;             // a key of its own beside "engine"
};

struct ExperimentConfig {
  std::string source;  // the file it was read from; not part of the resolved config
  std::string name;
  std::string target;
  std::string draft;  // empty: none
  PromptsConfig prompts;
  PromptFormat prompt_format = PromptFormat::kRaw;
  std::string chat_template;  // empty for raw prompts
  std::string system;
  Sampling sampling;
  int max_new_tokens = 0;
  bool ignore_end_tokens = false;
  std::vector<std::string> stop_strings;
  int baseline = 0;  // index into arms
  Bracket bracket = Bracket::kPrompt;
  std::vector<ArmConfig> arms;
  EngineConfig engine;
  int concurrency = 1;
};

absl::StatusOr<ExperimentConfig> ReadConfig(const Json& json);
// Reads `path`, applies the overrides ("path=value") and reads the result. Messages start with the file's
// name.
absl::StatusOr<ExperimentConfig> LoadConfig(absl::string_view path,
                                            const std::vector<std::string>& overrides);

// The config with every default written out; reading it gives the same config.
Json ResolvedConfig(const ExperimentConfig& config);
// First 8 hex digits of the SHA-256 of the resolved config.
std::string ConfigHash(const Json& resolved);
// "runs/<name>-<hash>".
std::string DefaultRunDirectory(const ExperimentConfig& config);

// A file that the config names: as it is where absolute, else beside the config or one of the folders above
// it, else below the working directory. Empty where there is none.
std::string FindConfigFile(const ExperimentConfig& config, absl::string_view name);

}  // namespace forerun
