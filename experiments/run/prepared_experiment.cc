#include "experiments/run/prepared_experiment.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tokenizer/chat_template.h"
#include "core/verify/registry.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

// A path in a config may be relative to the config; a bare name is one under models/.
std::string ModelPath(const ExperimentConfig& config, const std::string& name) {
  const std::string found = absl::StrContains(name, "/") ? FindConfigFile(config, name) : "";
  return found.empty() ? name : found;
}

absl::Status In(const std::string& where, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(where, ": ", status.message()));
}

// Options of drafters that name a file, found like the prompts.
struct FileOption {
  const char* name;
  const char* pointer;  // into the drafter's options
};
constexpr FileOption kDrafterFiles[] = {{"shortlist", "/shortlist"},
                                        {"corpus", "/corpus"},
                                        {"prediction", "/prediction/file"},
                                        {"heads", "/heads"}};

// The file itself; of a folder every file, as "<option>/<name>".
void AddFiles(const std::string& option, const std::string& path, PreparedArm& arm) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    arm.drafter_files.emplace_back(option, path);
    return;
  }
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(path, error)) {
    if (!entry.is_regular_file(error)) continue;
    arm.drafter_files.emplace_back(absl::StrCat(option, "/", entry.path().filename().string()),
                                   entry.path().string());
  }
  std::sort(arm.drafter_files.begin(), arm.drafter_files.end());
}

// Replaces the names of files in a drafter and its parts by the paths found, and lists those.
void FindDrafterFiles(const ExperimentConfig& config, Json& drafter, PreparedArm& arm) {
  if (!drafter.is_object()) return;
  for (const FileOption& option : kDrafterFiles) {
    const Json::json_pointer pointer(option.pointer);
    if (!drafter.contains(pointer) || !drafter[pointer].is_string()) continue;
    const std::string file = FindConfigFile(config, drafter[pointer].get<std::string>());
    if (file.empty()) continue;
    drafter[pointer] = file;
    AddFiles(option.name, file, arm);
  }
  if (!drafter.contains("parts")) return;
  for (Json& part : drafter["parts"]) FindDrafterFiles(config, part, arm);
}

// Completes the config where it left the rule open.
absl::StatusOr<PreparedArm> PrepareArm(ArmConfig& config, const PreparedExperiment& experiment) {
  FORERUN_RETURN_IF_ERROR(Validate(config.sampling, experiment.models.vocab_size()));
  PreparedArm arm;
  const DrafterResources resources = {
      .target = experiment.models.target.model.get(),
      .draft = experiment.models.draft ? experiment.models.draft->model.get() : nullptr,
      .pool = &experiment.machine->pool(),
      .target_tokenizer = experiment.models.target.tokenizer.get(),
      .draft_tokenizer = experiment.models.draft ? experiment.models.draft->tokenizer.get() : nullptr};
  Json options = config.drafter;
  FindDrafterFiles(experiment.config, options, arm);
  FORERUN_ASSIGN_OR_RETURN(arm.drafter, MakeDrafter(options, resources));
  const DraftKind kind = KindOfDrafts(arm.drafter.get(), config.sampling);
  ChooseRuleFor(kind, &config);
  FORERUN_ASSIGN_OR_RETURN(arm.rule, MakeRule(config.verifier));
  FORERUN_RETURN_IF_ERROR(In("arm " + config.name, CheckPairing(*arm.rule, kind, config.sampling)));
  if (!config.drafts()) arm.drafter.reset();
  return arm;
}

absl::Status PreparePrompts(int limit, PreparedExperiment* experiment) {
  const ExperimentConfig& config = experiment->config;
  experiment->prompt_file = FindConfigFile(config, config.prompts.file);
  if (experiment->prompt_file.empty()) {
    return absl::NotFoundError(absl::StrCat(config.source, ": prompts.file: there is no ",
                                            config.prompts.file, " beside the config, above it or here"));
  }
  FORERUN_ASSIGN_OR_RETURN(const std::vector<Prompt> all, ReadPromptFile(experiment->prompt_file));
  FORERUN_ASSIGN_OR_RETURN(std::vector<Prompt> selected, SelectPrompts(all, config.prompts));
  if (limit > 0 && static_cast<int>(selected.size()) > limit) selected.resize(limit);
  for (Prompt& prompt : selected) experiment->prompts.push_back({std::move(prompt), {}, {}});
  return absl::OkStatus();
}

absl::Status EncodePrompts(PreparedExperiment* experiment) {
  const ExperimentConfig& config = experiment->config;
  const LoadedModel& target = experiment->models.target;
  for (PreparedPrompt& prepared : experiment->prompts) {
    const std::string where = absl::StrCat(experiment->prompt_file, ":", prepared.prompt.line);
    absl::StatusOr<std::vector<TokenId>> tokens = EncodePrompt(
        *target.tokenizer, config.prompt_format, config.chat_template, config.system, prepared.prompt.text);
    if (!tokens.ok()) return In(where, tokens.status());
    const int context = target.model->context_length();
    if (tokens->empty() || static_cast<int>(tokens->size()) >= context) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": expected 1 to ", context - 1,
                                                     " tokens (the context of ", config.target, "), found ",
                                                     tokens->size()));
    }
    prepared.tokens = *std::move(tokens);
    absl::StatusOr<std::vector<TokenId>> prediction =
        target.tokenizer->Encode(prepared.prompt.prediction, EncodeOptions{});
    if (!prediction.ok()) return In(where, prediction.status());
    prepared.prediction = *std::move(prediction);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<TokenId>> EncodePrompt(const Tokenizer& tokenizer, PromptFormat format,
                                                  const std::string& chat_template, const std::string& system,
                                                  const std::string& text) {
  if (format == PromptFormat::kRaw) return tokenizer.Encode(text, {.add_special = true});
  FORERUN_ASSIGN_OR_RETURN(const ChatTemplate chat, ChooseChatTemplate(chat_template, tokenizer));
  std::vector<ChatMessage> messages;
  if (!system.empty()) messages.push_back({.role = "system", .content = system});
  messages.push_back({.role = "user", .content = text});
  return EncodeChat(chat, tokenizer, messages);
}

absl::StatusOr<PreparedExperiment> PrepareExperiment(const ExperimentConfig& config, int limit) {
  PreparedExperiment experiment;
  experiment.config = config;
  FORERUN_RETURN_IF_ERROR(PreparePrompts(limit, &experiment));
  FORERUN_ASSIGN_OR_RETURN(experiment.machine, Machine::Create(config.engine));
  FORERUN_ASSIGN_OR_RETURN(
      experiment.models,
      LoadModelPair(*experiment.machine, ModelPath(config, config.target), ModelPath(config, config.draft)));
  for (ArmConfig& arm : experiment.config.arms) {
    absl::StatusOr<PreparedArm> prepared = PrepareArm(arm, experiment);
    if (!prepared.ok()) return In(absl::StrCat(config.source, ": arm \"", arm.name, "\""), prepared.status());
    experiment.arms.push_back(*std::move(prepared));
  }
  FORERUN_RETURN_IF_ERROR(EncodePrompts(&experiment));
  return experiment;
}

Request PreparedExperiment::MakeRequest(int prompt, int arm) const {
  Request request;
  request.id = prompts[prompt].prompt.line;
  request.prompt = prompts[prompt].tokens;
  request.prediction = prompts[prompt].prediction;
  request.drafter = arms[arm].drafter.get();
  request.verifier = arms[arm].rule.get();
  request.num_speculative_tokens = config.arms[arm].num_speculative_tokens;
  request.sampling = config.arms[arm].sampling;
  request.max_new_tokens = config.max_new_tokens;
  const Tokenizer& tokenizer = *models.target.tokenizer;
  if (!config.ignore_end_tokens) {
    request.end_tokens.assign(tokenizer.end_tokens().begin(), tokenizer.end_tokens().end());
  }
  request.stop_strings = config.stop_strings;
  request.tokenizer = &tokenizer;
  return request;
}

}  // namespace forerun
