#include "experiments/base/file_hash.h"
#include "experiments/config/config.h"
#include "experiments/config/fusion_config.h"
#include "experiments/config/sampling_config.h"

namespace forerun {
namespace {

Json PromptsJson(const PromptsConfig& prompts) {
  Json json;
  json["file"] = prompts.file;
  json["categories"] = prompts.categories;
  json["per_category"] = prompts.per_category;
  return json;
}

Json EngineJson(const EngineConfig& engine) {
  Json json;
  json["numerics"] = engine.numerics;
  json["kv_dtype"] = engine.kv_dtype;
  json["kv_budget_mib"] = engine.kv_budget_mib;
  json["threads"] = engine.threads;
  json["prefill_chunk"] = engine.prefill_chunk;
  json["packed_cache"] = engine.packed_cache;
  if (!engine.isa.empty()) json["isa"] = engine.isa;
  return json;
}

}  // namespace

Json ResolvedConfig(const ExperimentConfig& config) {
  Json json;
  json["name"] = config.name;
  json["target"] = config.target;
  if (!config.draft.empty()) json["draft"] = config.draft;
  json["prompts"] = PromptsJson(config.prompts);
  const bool chat = config.prompt_format == PromptFormat::kChat;
  json["prompt_format"] = chat ? "chat" : "raw";
  if (chat) json["chat_template"] = config.chat_template;
  if (!config.system.empty()) json["system"] = config.system;
  json["sampling"] = SamplingJson(config.sampling);
  json["max_new_tokens"] = config.max_new_tokens;
  json["ignore_end_tokens"] = config.ignore_end_tokens;
  json["stop_strings"] = config.stop_strings;
  json["baseline"] = config.arms[config.baseline].name;
  json["bracket"] = config.bracket == Bracket::kArm ? "arm" : "prompt";
  json["arms"] = Json::array();
  for (const ArmConfig& arm : config.arms) json["arms"].push_back(ArmJson(arm));
  json["engine"] = EngineJson(config.engine);
  json["fusion"] = FusionJson(config.engine.fusion);
  json["concurrency"] = config.concurrency;
  return json;
}

std::string ConfigHash(const Json& resolved) { return Sha256Hex(DumpJson(resolved)).substr(0, 8); }

std::string DefaultRunDirectory(const ExperimentConfig& config) {
  return "runs/" + config.name + "-" + ConfigHash(ResolvedConfig(config));
}

}  // namespace forerun
