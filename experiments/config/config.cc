#include "experiments/config/config.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "experiments/config/fusion_config.h"
#include "experiments/config/sampling_config.h"

namespace forerun {
namespace {

constexpr int kMost = 1 << 20;

absl::Status ReadPrompts(const Json* json, PromptsConfig* prompts) {
  if (json == nullptr) return absl::InvalidArgumentError("prompts: expected {\"file\": ...}, found nothing");
  ObjectReader reader(*json, "prompts");
  prompts->file = reader.RequiredString("file");
  prompts->categories = reader.Strings("categories");
  prompts->per_category = static_cast<int>(reader.Int("per_category", 0, 0, kMost));
  return reader.Finish();
}

absl::Status ReadArms(const Json* arms, ExperimentConfig* config) {
  if (arms == nullptr || arms->empty()) return absl::InvalidArgumentError("arms: expected at least one arm");
  std::set<std::string> names;
  for (std::size_t i = 0; i < arms->size(); ++i) {
    const std::string where = absl::StrCat("arms.", i);
    FORERUN_ASSIGN_OR_RETURN(ArmConfig arm, ReadArm((*arms)[i], where, config->sampling));
    if (!names.insert(arm.name).second) {
      return absl::InvalidArgumentError(absl::StrCat(where, ".name: \"", arm.name, "\" is used twice"));
    }
    config->arms.push_back(std::move(arm));
  }
  return absl::OkStatus();
}

absl::Status ChooseBaseline(const std::string& name, ExperimentConfig* config) {
  std::vector<std::string> plain;
  for (std::size_t i = 0; i < config->arms.size(); ++i) {
    if (config->arms[i].drafter_type != "none") continue;
    if (name.empty() ? plain.empty() : name == config->arms[i].name) config->baseline = static_cast<int>(i);
    plain.push_back(config->arms[i].name);
  }
  if (plain.empty()) {
    return absl::InvalidArgumentError(
        "arms: expected one with drafter.type none, to be the baseline; found none");
  }
  if (name.empty() || std::find(plain.begin(), plain.end(), name) != plain.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("baseline: expected an arm with drafter.type none (",
                                                 absl::StrJoin(plain, ", "), "), found \"", name, "\""));
}

absl::Status CheckDraftModel(const ExperimentConfig& config) {
  bool used = false;
  for (const ArmConfig& arm : config.arms) {
    if (!NeedsDraftModel(arm.drafter)) continue;
    used |= arm.drafts();
    if (!config.draft.empty()) continue;
    return absl::InvalidArgumentError(absl::StrCat("draft: arm \"", arm.name, "\" (", arm.drafter_type,
                                                   ") needs a draft model, found nothing"));
  }
  if (config.draft.empty() || used) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("draft: \"", config.draft, "\" would be loaded and never used: no arm drafts with it"));
}

// Records errors in `reader`.
void ReadPromptFormat(ObjectReader& reader, ExperimentConfig* config) {
  if (!reader.Has("prompt_format")) reader.Fail("prompt_format", "\"raw\" or \"chat\"");
  const std::string format = reader.Choice("prompt_format", "raw", {"raw", "chat"});
  config->prompt_format = format == "chat" ? PromptFormat::kChat : PromptFormat::kRaw;
  const bool chat = config->prompt_format == PromptFormat::kChat;
  const std::vector<std::string> templates = {"auto", "chatml", "gemma", "llama3"};
  config->chat_template = reader.Choice("chat_template", chat ? "auto" : "", templates);
  config->system = reader.String("system", "");
  if (!chat && reader.Has("chat_template")) reader.Fail("chat_template", "nothing, as prompt_format is raw");
  if (!chat && reader.Has("system")) reader.Fail("system", "nothing, as prompt_format is raw");
}

absl::Status ReadEngine(const Json* json, EngineConfig* engine) {
  const Json empty = Json::object();
  ObjectReader reader(json == nullptr ? empty : *json, "engine");
  engine->numerics = reader.Choice("numerics", engine->numerics, {"a8", "f32"});
  engine->kv_dtype = reader.Choice("kv_dtype", engine->kv_dtype, {"f16", "f32"});
  engine->kv_budget_mib = static_cast<int>(reader.Int("kv_budget_mib", engine->kv_budget_mib, 4, kMost));
  engine->threads = static_cast<int>(reader.Int("threads", 0, 0, 256));
  engine->prefill_chunk = static_cast<int>(reader.Int("prefill_chunk", engine->prefill_chunk, 1, 512));
  engine->packed_cache = reader.Bool("packed_cache", engine->packed_cache);
  engine->isa = reader.Choice("isa", "", {"reference", "avx2", "avx512", "avx512vnni"});
  return reader.Finish();
}

bool SafeName(const std::string& name) {
  return !name.empty() && name[0] != '.' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
             std::string::npos;
}

}  // namespace

absl::StatusOr<ExperimentConfig> ReadConfig(const Json& json) {
  ExperimentConfig config;
  ObjectReader reader(json, "");
  config.name = reader.RequiredString("name");
  if (!config.name.empty() && !SafeName(config.name)) reader.Fail("name", "letters, digits and . _ -");
  config.target = reader.RequiredString("target");
  config.draft = reader.String("draft", "");
  const Json* prompts = reader.Object("prompts");
  ReadPromptFormat(reader, &config);
  const Json* sampling = reader.Object("sampling");
  config.max_new_tokens = static_cast<int>(reader.Int("max_new_tokens", 128, 1, kMost));
  config.ignore_end_tokens = reader.Bool("ignore_end_tokens", false);
  config.stop_strings = reader.Strings("stop_strings");
  const bool empty_stop = std::count(config.stop_strings.begin(), config.stop_strings.end(), "") > 0;
  if (empty_stop) reader.Fail("stop_strings", "strings that are not empty");
  const std::string baseline = reader.String("baseline", "");
  config.bracket =
      reader.Choice("bracket", "prompt", {"prompt", "arm"}) == "arm" ? Bracket::kArm : Bracket::kPrompt;
  const Json* arms = reader.Array("arms");
  const Json* engine = reader.Object("engine");
  const Json* fusion = reader.Object("fusion");
  config.concurrency = static_cast<int>(reader.Int("concurrency", 1, 1, 16));
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  FORERUN_RETURN_IF_ERROR(ReadPrompts(prompts, &config.prompts));
  if (sampling != nullptr) {
    FORERUN_ASSIGN_OR_RETURN(config.sampling, ReadSampling(*sampling, "sampling"));
  }
  FORERUN_RETURN_IF_ERROR(ReadEngine(engine, &config.engine));
  FORERUN_ASSIGN_OR_RETURN(config.engine.fusion, ReadFusion(fusion, "fusion"));
  FORERUN_RETURN_IF_ERROR(ReadArms(arms, &config));
  FORERUN_RETURN_IF_ERROR(ChooseBaseline(baseline, &config));
  FORERUN_RETURN_IF_ERROR(CheckDraftModel(config));
  return config;
}

}  // namespace forerun
