#include "experiments/commands/generation.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/status_macros.h"
#include "core/engine/engine.h"
#include "core/verify/registry.h"
#include "drafters/registry.h"
#include "experiments/commands/text_input.h"
#include "experiments/config/arm_config.h"
#include "experiments/report/metrics.h"
#include "experiments/run/machine.h"
#include "experiments/run/prepared_experiment.h"

namespace forerun {
namespace {

absl::Status CheckUse(const GenerateOptions& options, const Json& drafter) {
  const std::string type = drafter["type"].get<std::string>();
  const bool needs_draft = NeedsDraftModel(drafter);
  if (!options.draft.empty() && !needs_draft) {
    return absl::InvalidArgumentError(
        absl::StrCat("--draft ", options.draft, ": would be loaded and never used by --drafter ", type));
  }
  if (options.draft.empty() && needs_draft) {
    return absl::InvalidArgumentError(
        absl::StrCat("--drafter ", type, ": needs a model to draft with: --draft"));
  }
  if (!options.draft.empty() && options.num_speculative_tokens == 0) {
    return absl::InvalidArgumentError("--num-speculative-tokens 0: the draft model would never be used");
  }
  if (!options.has_chat && !options.system.empty())
    return absl::InvalidArgumentError("--system: needs --chat");
  if (!options.has_chat && !options.chat_template.empty())
    return absl::InvalidArgumentError("--chat-template: needs --chat");
  if (options.log_probs && !options.json) return absl::InvalidArgumentError("--log-probs: needs --json");
  return absl::OkStatus();
}

// The command line as one arm of an experiment, so that it is read as strictly.
absl::StatusOr<ArmConfig> ArmOf(const GenerateOptions& options) {
  std::string type = options.drafter;
  if (type.empty()) type = options.draft.empty() ? "none" : "draft_model";
  Json arm;
  arm["name"] = "generate";
  arm["drafter"] = Json::object();
  if (!options.drafter_options.empty()) {
    FORERUN_ASSIGN_OR_RETURN(arm["drafter"], ParseJson(options.drafter_options, "--drafter-options"));
    if (!arm["drafter"].is_object())
      return absl::InvalidArgumentError("--drafter-options: expected a JSON object");
  }
  arm["drafter"]["type"] = type;
  if (options.num_speculative_tokens >= 0)
    arm["drafter"]["num_speculative_tokens"] = options.num_speculative_tokens;
  if (!options.draft_sample.empty()) arm["drafter"]["sample"] = options.draft_sample;
  if (!options.rule_options.empty()) {
    FORERUN_ASSIGN_OR_RETURN(arm["verifier"], ParseJson(options.rule_options, "--rule-options"));
    if (!arm["verifier"].is_object())
      return absl::InvalidArgumentError("--rule-options: expected a JSON object");
  }
  if (!options.rule.empty()) arm["verifier"]["rule"] = options.rule;
  FORERUN_ASSIGN_OR_RETURN(ArmConfig read, ReadArm(arm, "command line", options.sampling));
  FORERUN_RETURN_IF_ERROR(CheckUse(options, read.drafter));
  return read;
}

EngineConfig EngineOf(const GenerateOptions& options) {
  EngineConfig engine;
  if (options.exact) engine.numerics = engine.kv_dtype = "f32";
  engine.kv_budget_mib = options.kv_budget_mib;
  engine.threads = options.threads;
  return engine;
}

absl::StatusOr<std::vector<TokenId>> PromptTokens(const GenerateOptions& options,
                                                  const Tokenizer& tokenizer) {
  std::string text = options.has_chat ? options.chat : options.prompt;
  if (!options.has_chat && !options.has_prompt) {
    FORERUN_ASSIGN_OR_RETURN(text, ReadTextInput(options.prompt_file));
  }
  const PromptFormat format = options.has_chat ? PromptFormat::kChat : PromptFormat::kRaw;
  const std::string chat_template = options.chat_template.empty() ? "auto" : options.chat_template;
  FORERUN_ASSIGN_OR_RETURN(std::vector<TokenId> tokens,
                           EncodePrompt(tokenizer, format, chat_template, options.system, text));
  if (tokens.empty()) return absl::InvalidArgumentError("--prompt: expected at least one token, found none");
  return tokens;
}

// Writes text as it becomes complete: with --quiet the tokens' own bytes, else whole characters only.
class Printer {
 public:
  Printer(const Tokenizer& tokenizer, const GenerateOptions& options)
      : tokenizer_(tokenizer), decoder_(tokenizer), options_(options) {}

  void Add(const std::vector<TokenId>& tokens) {
    if (options_.json) return;
    for (const TokenId token : tokens)
      Write(options_.quiet ? tokenizer_.TokenBytes(token) : decoder_.Add(token));
    std::fflush(stdout);
  }
  void Finish() {
    if (options_.json || options_.quiet) return;
    Write(decoder_.Finish() + "\n");
  }

 private:
  static void Write(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

  const Tokenizer& tokenizer_;
  StreamDecoder decoder_;
  const GenerateOptions& options_;
};

Json StatisticsJson(const LoggedRequest& request, const ModelPair& models, const Machine& machine) {
  const Requests requests = {&request};
  const auto number = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  Json json;
  json["tokens"] = request.row.emitted();
  json["rounds"] = request.rounds.size();
  json["drafted"] = request.row.drafted;
  json["accepted"] = request.row.accepted;
  json["tau"] = number(Tau(requests));
  json["acceptance_rate"] = number(AcceptanceRate(requests));
  json["tokens_per_second"] = number(TokensPerSecond(requests));
  json["prompt_tokens"] = request.row.prompt_tokens;
  json["prefill_seconds"] = request.row.prefill_seconds;
  json["decode_seconds"] = request.row.decode_seconds;
  json["finish_reason"] = request.row.finish_reason;
  json["peak_rss_bytes"] = PeakRssBytes();
  json["weights_file_bytes"] = models.target.file_bytes + (models.draft ? models.draft->file_bytes : 0);
  json["kv_budget_bytes"] = static_cast<int64_t>(machine.config().kv_budget_mib) << 20;
  return json;
}

// "–" for what is undefined.
std::string Shown(const Json& value, const char* format, double scale) {
  if (!value.is_number()) return "–";
  char text[64];
  std::snprintf(text, sizeof text, format, value.get<double>() * scale);
  return text;
}

void PrintSummary(const Json& s) {
  constexpr double kMega = 1e-6;
  const std::string line = absl::StrCat(
      s["tokens"].get<int64_t>(), " tokens, ", Shown(s["tokens_per_second"], "%.1f", 1), " tok/s, tau ",
      Shown(s["tau"], "%.2f", 1), ", accepted ", Shown(s["acceptance_rate"], "%.0f %%", 100), ", ",
      s["rounds"].get<int64_t>(), " rounds, prompt ", s["prompt_tokens"].get<int64_t>(), " tokens in ",
      Shown(s["prefill_seconds"], "%.2f s", 1), "; peak ", Shown(s["peak_rss_bytes"], "%.0f MB", kMega),
      " (weights ", Shown(s["weights_file_bytes"], "%.0f", kMega), ", KV budget ",
      Shown(s["kv_budget_bytes"], "%.0f", kMega), ")\n");
  std::fputs(line.c_str(), stderr);
}

absl::StatusOr<RequestResult> Decode(Engine& engine, Printer& printer, std::vector<RoundRecord>* rounds) {
  RequestResult last;
  while (!engine.idle()) {
    FORERUN_ASSIGN_OR_RETURN(StepResult step, engine.Step());
    for (RoundRecord& round : step.rounds) {
      printer.Add(round.emitted);
      rounds->push_back(std::move(round));
    }
    for (RequestResult& result : step.finished) last = std::move(result);
  }
  printer.Finish();
  return last;
}

}  // namespace

absl::Status Generate(const GenerateOptions& options) {
  FORERUN_ASSIGN_OR_RETURN(ArmConfig arm, ArmOf(options));
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Create(EngineOf(options)));
  FORERUN_ASSIGN_OR_RETURN(const ModelPair models, LoadModelPair(*machine, options.target, options.draft));
  const Tokenizer& tokenizer = *models.target.tokenizer;
  const DrafterResources resources = {
      .target = models.target.model.get(),
      .draft = models.draft ? models.draft->model.get() : nullptr,
      .pool = &machine->pool(),
      .target_tokenizer = models.target.tokenizer.get(),
      .draft_tokenizer = models.draft ? models.draft->tokenizer.get() : nullptr};
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Drafter> drafter, MakeDrafter(arm.drafter, resources));
  ChooseRuleFor(KindOfDrafts(drafter.get(), arm.sampling), &arm);
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Verifier> rule, MakeRule(arm.verifier));

  Request request;
  FORERUN_ASSIGN_OR_RETURN(request.prompt, PromptTokens(options, tokenizer));
  request.drafter = arm.drafts() ? drafter.get() : nullptr;
  request.verifier = rule.get();
  request.num_speculative_tokens = arm.num_speculative_tokens;
  request.sampling = arm.sampling;
  request.max_new_tokens = options.max_new_tokens;
  if (!options.ignore_end_tokens) {
    request.end_tokens.assign(tokenizer.end_tokens().begin(), tokenizer.end_tokens().end());
  }
  request.stop_strings = options.stop_strings;
  request.tokenizer = &tokenizer;
  request.want_log_probs = options.log_probs;

  LoggedRequest logged;
  logged.row.prompt_tokens = static_cast<int64_t>(request.prompt.size());
  Engine engine(*models.target.model, machine->pool(), {.max_sequences = 1});
  FORERUN_RETURN_IF_ERROR(engine.Add(std::move(request)));
  Printer printer(tokenizer, options);
  FORERUN_ASSIGN_OR_RETURN(const RequestResult result, Decode(engine, printer, &logged.rounds));
  FORERUN_RETURN_IF_ERROR(result.status);
  logged.row.output = result.output;
  logged.row.drafted = result.drafted;
  logged.row.accepted = result.accepted;
  logged.row.prefill_seconds = result.prefill_seconds;
  logged.row.decode_seconds = result.decode_seconds;
  logged.row.finish_reason = FinishReasonName(result.reason);

  const Json statistics = StatisticsJson(logged, models, *machine);
  if (options.json) {
    Json json;
    json["text"] = tokenizer.Decode(result.output);
    json["ids"] = result.output;
    if (options.log_probs) json["log_probs"] = result.log_probs;
    json["statistics"] = statistics;
    std::fputs((DumpJson(json) + "\n").c_str(), stdout);
  } else if (!options.quiet) {
    PrintSummary(statistics);
  }
  return absl::OkStatus();
}

}  // namespace forerun
