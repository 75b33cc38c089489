// `forerun serve`: an experiment's requests one by one, when another program asks for them. So that program
// can time them in turns with something else, which a run that goes through on its own cannot.
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "core/engine/engine.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/experiment_options.h"
#include "experiments/commands/json_lines.h"
#include "experiments/run/environment.h"
#include "experiments/run/prepared_experiment.h"

namespace forerun {
namespace {

Json Describe(const PreparedExperiment& experiment) {
  const ExperimentConfig& config = experiment.config;
  const LoadedModel& target = experiment.models.target;
  Json json;
  json["target"] = target.path;
  json["draft"] = experiment.models.draft ? Json(experiment.models.draft->path) : Json();
  json["isa"] = IsaName(experiment.machine->kernels().isa);
  json["threads"] = experiment.machine->num_threads();
  json["vocab_size"] = target.model->vocab_size();
  json["tokenizer_sha256"] = TokenizerHash(*target.tokenizer);
  json["end_tokens"] = target.tokenizer->end_tokens();
  json["max_new_tokens"] = config.max_new_tokens;
  json["baseline"] = config.arms[config.baseline].name;
  json["arms"] = Json::array();
  for (const ArmConfig& arm : config.arms) json["arms"].push_back(ArmJson(arm));
  json["prompts"] = Json::array();
  for (const PreparedPrompt& prompt : experiment.prompts) {
    json["prompts"].push_back(
        {{"id", prompt.prompt.id}, {"category", prompt.prompt.category}, {"tokens", prompt.tokens}});
  }
  return json;
}

Json ResultJson(const RequestResult& result, const std::vector<RoundRecord>& rounds) {
  double draft = 0, verify = 0, sample = 0, other = 0;
  for (const RoundRecord& round : rounds) {
    draft += round.draft_seconds;
    verify += round.verify_seconds;
    sample += round.sample_seconds;
    other += round.other_seconds;
  }
  Json json;
  json["ids"] = result.output;
  json["finish_reason"] = FinishReasonName(result.reason);
  json["rounds"] = result.rounds;
  json["drafted"] = result.drafted;
  json["accepted"] = result.accepted;
  json["prefill_seconds"] = result.prefill_seconds;
  json["decode_seconds"] = result.decode_seconds;
  json["seconds"] = {{"draft", draft}, {"verify", verify}, {"sample", sample}, {"other", other}};
  return json;
}

absl::StatusOr<Json> Serve(const PreparedExperiment& experiment, int prompt, int arm) {
  Engine engine(*experiment.models.target.model, experiment.machine->pool(),
                {.max_sequences = 1, .prefill_chunk = experiment.config.engine.prefill_chunk});
  FORERUN_RETURN_IF_ERROR(engine.Add(experiment.MakeRequest(prompt, arm)));
  std::vector<RoundRecord> rounds;
  RequestResult result;
  while (!engine.idle()) {
    FORERUN_ASSIGN_OR_RETURN(StepResult step, engine.Step());
    for (RoundRecord& round : step.rounds) rounds.push_back(std::move(round));
    for (RequestResult& finished : step.finished) result = std::move(finished);
  }
  FORERUN_RETURN_IF_ERROR(result.status);
  return ResultJson(result, rounds);
}

absl::StatusOr<Json> Answer(const PreparedExperiment& experiment, const std::string& line) {
  FORERUN_ASSIGN_OR_RETURN(const Json request, ParseJson(line, "request"));
  ObjectReader reader(request, "request");
  const int last_prompt = static_cast<int>(experiment.prompts.size()) - 1;
  const int last_arm = static_cast<int>(experiment.config.arms.size()) - 1;
  const int prompt = static_cast<int>(reader.Int("prompt", -1, 0, last_prompt));
  const int arm = static_cast<int>(reader.Int("arm", -1, 0, last_arm));
  if (!reader.Has("prompt")) reader.Fail("prompt", absl::StrCat("an index up to ", last_prompt));
  if (!reader.Has("arm")) reader.Fail("arm", absl::StrCat("an index up to ", last_arm));
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  return Serve(experiment, prompt, arm);
}

absl::Status RunServe(const ExperimentOptions& options) {
  FORERUN_ASSIGN_OR_RETURN(const ExperimentConfig config, LoadConfig(options.config, options.overrides));
  FORERUN_ASSIGN_OR_RETURN(const PreparedExperiment experiment, PrepareExperiment(config, options.limit));
  AnswerJsonLines(Describe(experiment), [&](const std::string& line) { return Answer(experiment, line); });
  return absl::OkStatus();
}

}  // namespace

Command AddServeCommand(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("serve", "Answer for an experiment's requests one by one, for another program");
  auto options = std::make_shared<ExperimentOptions>();
  AddExperimentOptions(*command, *options);
  command->footer(
      "Example:\n  echo '{\"prompt\": 0, \"arm\": 1}' | forerun serve experiments/configs/smoke.json\n\n"
      "Prints one JSON line about itself (arms, prompts and their token ids), then one for each line read: "
      "the\n"
      "output's ids and where the time went. Nothing is carried from request to request.");
  return {command, [options] { return RunServe(*options); }};
}

}  // namespace forerun
