#include <cstdio>
#include <memory>

#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "experiments/base/token_ids.h"
#include "experiments/commands/checks.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/text_input.h"
#include "experiments/run/machine.h"
#include "experiments/texts/scoring.h"

namespace forerun {
namespace {

struct Options {
  std::string model;
  std::string file;
  std::string ids_file;
  bool json = false;
  bool exact = false;
  bool best = false;
  ScoreOptions score;
  EngineConfig engine;
};

// One sequence, or several where the file holds a list of lists.
absl::StatusOr<std::vector<std::vector<TokenId>>> ReadSequences(const Options& options,
                                                                const Tokenizer& tokenizer, bool* several) {
  std::vector<std::vector<TokenId>> sequences;
  if (options.ids_file.empty()) {
    FORERUN_ASSIGN_OR_RETURN(const std::string text, ReadTextInput(options.file));
    FORERUN_ASSIGN_OR_RETURN(std::vector<TokenId> ids,
                             tokenizer.Encode(text, {.add_special = tokenizer.adds_bos()}));
    sequences.push_back(std::move(ids));
    return sequences;
  }
  FORERUN_ASSIGN_OR_RETURN(const Json json, ReadJsonFile(options.ids_file));
  *several = json.is_array() && !json.empty() && json[0].is_array();
  const Json lists = *several ? json : Json::array({json});
  for (const Json& list : lists) {
    if (!list.is_array())
      return absl::InvalidArgumentError("--ids-file: expected a list of ids, or of lists");
    FORERUN_ASSIGN_OR_RETURN(std::vector<TokenId> ids, ReadTokenIds(list, "--ids-file"));
    sequences.push_back(std::move(ids));
  }
  return sequences;
}

Json ScoreJson(const std::vector<TokenId>& ids, const Score& score) {
  Json json;
  json["ids"] = ids;
  json["nll"] = score.nll;
  json["mean_nll"] = score.mean_nll() ? Json(*score.mean_nll()) : Json();
  json["seconds"] = score.seconds;
  if (!score.top.empty()) {
    json["top"] = Json::array();
    for (const auto& [token, logit] : score.top) json["top"].push_back({token, logit});
  }
  return json;
}

void Print(const Options& options, const Json& json) {
  if (options.json) {
    std::printf("%s\n", DumpJson(json).c_str());
    return;
  }
  const Json results = json.contains("results") ? json["results"] : Json::array({json});
  for (const Json& result : results) {
    const std::string mean = result["mean_nll"].is_null() ? "-" : DumpJson(result["mean_nll"]);
    std::printf("%zu ids, mean NLL %s, %.2f s\n", result["ids"].size(), mean.c_str(),
                result["seconds"].get<double>());
  }
  std::printf("peak %.0f MB (weights %.0f, KV budget %.0f)\n", json["peak_rss_bytes"].get<double>() / 1e6,
              json["weights_file_bytes"].get<double>() / 1e6, json["kv_budget_bytes"].get<double>() / 1e6);
}

absl::Status RunScore(Options options) {
  if (options.exact) options.engine.numerics = options.engine.kv_dtype = "f32";
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Machine> machine, Machine::Create(options.engine));
  FORERUN_ASSIGN_OR_RETURN(const LoadedModel model, machine->Load(options.model));
  bool several = false;
  FORERUN_ASSIGN_OR_RETURN(const auto sequences, ReadSequences(options, *model.tokenizer, &several));
  Json results = Json::array();
  for (const std::vector<TokenId>& ids : sequences) {
    FORERUN_ASSIGN_OR_RETURN(const Score score,
                             ScoreTokens(*model.model, machine->pool(), ids, options.score));
    results.push_back(ScoreJson(ids, score));
    if (!options.best) continue;
    FORERUN_ASSIGN_OR_RETURN(const std::vector<BestToken> best,
                             BestTokensAlong(*model.model, machine->pool(), ids, options.score.chunk));
    Json& list = results.back()["best"] = Json::array();
    for (const BestToken& token : best) list.push_back({token.id, token.margin});
  }
  Json json;
  json["model"] = model.path;
  json["numerics"] = options.engine.numerics;
  json["kv_dtype"] = options.engine.kv_dtype;
  if (several) {
    json["results"] = std::move(results);
  } else {
    json.update(results[0]);
  }
  json["peak_rss_bytes"] = PeakRssBytes();
  json["weights_file_bytes"] = model.file_bytes;
  json["kv_budget_bytes"] = static_cast<int64_t>(options.engine.kv_budget_mib) << 20;
  Print(options, json);
  return absl::OkStatus();
}

}  // namespace

Command AddScoreCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("score", "Print how surprised a model is by a text, token by token");
  auto options = std::make_shared<Options>();
  command->add_option("--model", options->model, "A path or a name under models/")->required();
  CLI::Option_group* input = command->add_option_group("Text", "exactly one of these");
  input->add_option("--file", options->file,
                    "A text file, - for standard input; BOS is added where the model says so");
  input->add_option("--ids-file", options->ids_file,
                    "A JSON list of ids, taken as they are, or a list of such lists");
  input->require_option(1);
  command->add_flag("--json", options->json, "Ids, NLL of each id after the first (nats), mean_nll");
  command->add_flag("--exact", options->exact, "32-bit floats throughout");
  command->add_option("--chunk", options->score.chunk, "Rows of one forward")
      ->check(IntegerFrom(1, 512))
      ->capture_default_str();
  command->add_option("--top", options->score.top, "Also the N best logits after the last id")
      ->check(IntegerFrom(0, 1 << 20));
  command->add_flag(
      "--best", options->best,
      "Also the best token after each id but the last, and its lead over the second best logit");
  command->add_option("--threads", options->engine.threads, "0: all cores")
      ->check(IntegerFrom(0, kMostThreads));
  command->add_option("--kv-budget-mib", options->engine.kv_budget_mib, "Memory for keys and values")
      ->check(IntegerFrom(4, kMostMib))
      ->capture_default_str();
  command->footer("Example:\n  forerun score --model smollm2-135m-instruct-q4_1 --file README.md --json");
  return {command, [options] { return RunScore(*options); }};
}

}  // namespace forerun
