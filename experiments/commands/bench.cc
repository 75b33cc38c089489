#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "experiments/commands/checks.h"
#include "experiments/commands/commands.h"
#include "experiments/machine.h"
#include "experiments/model_bench.h"
#include "experiments/scoring.h"
#include "experiments/table.h"
#include "experiments/token_ids.h"

namespace forerun {
namespace {

constexpr int kMostRows = 512;        // of one forward
constexpr int kMostTokens = 1 << 20;  // the model's context says less

struct Options {
  std::string model;
  std::vector<int> rows = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
  int repeat = 5;
  int prefill = 512;
  std::string ids_file;
  bool full_logits = false;
  bool json = false;
  bool serve = false;
  ModelBenchOptions bench;
  EngineConfig engine;
};

// Everything that a measurement needs. One is made and then measured in several ways.
struct Subject {
  std::unique_ptr<Machine> machine;
  LoadedModel loaded;
  std::unique_ptr<ModelBench> bench;
};

absl::StatusOr<Subject> MakeSubject(const Options& options) {
  Subject subject;
  FORERUN_ASSIGN_OR_RETURN(subject.machine, Machine::Create(options.engine));
  FORERUN_ASSIGN_OR_RETURN(subject.loaded, subject.machine->Load(options.model));
  subject.bench = std::make_unique<ModelBench>(*subject.loaded.model, subject.machine->pool(), options.bench);
  return subject;
}

Json Describe(const Options& options, const Subject& subject) {
  Json json;
  json["model"] = subject.loaded.path;
  json["isa"] = IsaName(subject.machine->kernels().isa);
  json["threads"] = subject.machine->num_threads();
  json["output"] = options.full_logits ? "full logits of every row" : "argmax of every row";
  json["context"] = options.bench.context;
  return json;
}

absl::StatusOr<Json> MeasureRows(Subject& subject, int rows, int repeat) {
  FORERUN_ASSIGN_OR_RETURN(const std::vector<double> samples, subject.bench->TimeRows(rows, repeat));
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  Json json;
  json["n"] = rows;
  json["ms"] = sorted.front();
  json["median_ms"] = sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  json["samples_ms"] = samples;
  return json;
}

absl::StatusOr<Json> MeasurePrefill(Subject& subject, int tokens) {
  FORERUN_ASSIGN_OR_RETURN(const double seconds, subject.bench->TimePrefill(tokens));
  Json json;
  json["prefill_tokens"] = tokens;
  json["prefill_tokens_per_second"] = tokens / seconds;
  return json;
}

absl::StatusOr<Json> MeasureNll(Subject& subject, const Json& ids) {
  FORERUN_ASSIGN_OR_RETURN(const std::vector<TokenId> tokens, ReadTokenIds(ids, "ids"));
  FORERUN_ASSIGN_OR_RETURN(
      const Score score, ScoreTokens(*subject.loaded.model, subject.machine->pool(), tokens, ScoreOptions()));
  Json json;
  json["ids"] = ids.size();
  json["mean_nll"] = score.mean_nll() ? Json(*score.mean_nll()) : Json();
  return json;
}

absl::StatusOr<Json> Answer(Subject& subject, const std::string& line) {
  FORERUN_ASSIGN_OR_RETURN(const Json request, ParseJson(line, "request"));
  ObjectReader reader(request, "request");
  const std::string op = reader.Choice("op", "", {"rows", "prefill", "nll"});
  const int rows = op == "rows" ? reader.Int("n", 1, 1, kMostRows) : 0;
  const int repeat = op == "rows" ? reader.Int("repeat", 1, 1, 1000) : 0;
  const int tokens = op == "prefill" ? reader.Int("tokens", 512, 1, kMostTokens) : 0;
  const Json* ids = op == "nll" ? reader.Array("ids") : nullptr;
  FORERUN_RETURN_IF_ERROR(reader.Finish());
  if (op == "rows") return MeasureRows(subject, rows, repeat);
  if (op == "prefill") return MeasurePrefill(subject, tokens);
  return MeasureNll(subject, ids == nullptr ? Json() : *ids);
}

void PrintLine(const Json& json) {
  std::printf("%s\n", DumpJson(json).c_str());
  std::fflush(stdout);
}

// One JSON line in, one out, until the input ends. The first line out says that the model is loaded.
void Serve(const Options& options, Subject& subject) {
  PrintLine(Describe(options, subject));
  for (std::string line; std::getline(std::cin, line);) {
    const absl::StatusOr<Json> answer = Answer(subject, line);
    PrintLine(answer.ok() ? *answer : Json({{"error", std::string(answer.status().message())}}));
  }
}

void Print(const Json& json) {
  std::printf("%s, %s, %d threads, %s, context %d\n\n", json["model"].get<std::string>().c_str(),
              json["isa"].get<std::string>().c_str(), json["threads"].get<int>(),
              json["output"].get<std::string>().c_str(), json["context"].get<int>());
  Table table = {.header = {"rows", "ms", "median ms", "c(n)"}, .rows = {}, .text_columns = 0};
  const double first = json["rows"].empty() ? 0 : json["rows"][0]["ms"].get<double>();
  const bool from_one = !json["rows"].empty() && json["rows"][0]["n"] == 1;
  for (const Json& row : json["rows"]) {
    const double best = row["ms"].get<double>();
    table.rows.push_back({absl::StrCat(row["n"].get<int>()), absl::StrFormat("%.2f", best),
                          absl::StrFormat("%.2f", row["median_ms"].get<double>()),
                          from_one ? absl::StrFormat("%.2f", best / first) : "-"});
  }
  std::printf("%s\n", Markdown(table).c_str());
  if (json.contains("prefill_tokens")) {
    std::printf("prefill of %d tokens: %.1f tokens/s\n", json["prefill_tokens"].get<int>(),
                json["prefill_tokens_per_second"].get<double>());
  }
  if (json.contains("mean_nll")) {
    std::printf("mean NLL of %d ids: %s\n", json["ids"].get<int>(), DumpJson(json["mean_nll"]).c_str());
  }
}

absl::Status RunBenchModel(Options options) {
  if (options.full_logits) options.bench.wanted = WantedOutput::kFull;
  FORERUN_ASSIGN_OR_RETURN(Subject subject, MakeSubject(options));
  if (options.serve) {
    Serve(options, subject);
    return absl::OkStatus();
  }
  Json json = Describe(options, subject);
  json["rows"] = Json::array();
  for (const int rows : options.rows) {
    FORERUN_ASSIGN_OR_RETURN(Json measured, MeasureRows(subject, rows, options.repeat));
    json["rows"].push_back(std::move(measured));
  }
  if (options.prefill > 0) {
    FORERUN_ASSIGN_OR_RETURN(const Json measured, MeasurePrefill(subject, options.prefill));
    json.update(measured);
  }
  if (!options.ids_file.empty()) {
    FORERUN_ASSIGN_OR_RETURN(const Json ids, ReadJsonFile(options.ids_file));
    FORERUN_ASSIGN_OR_RETURN(const Json measured, MeasureNll(subject, ids));
    json.update(measured);
  }
  if (options.json) {
    PrintLine(json);
  } else {
    Print(json);
  }
  return absl::OkStatus();
}

}  // namespace

Command AddBenchCommand(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Time a part of the program by itself");
  bench->require_subcommand(1);
  CLI::App* command = bench->add_subcommand("model", "Time a model's forwards: n rows t(n), prefill");
  auto options = std::make_shared<Options>();
  options->bench.prefill_chunk = options->engine.prefill_chunk;
  command->add_option("MODEL", options->model, "A path or a name under models/")->required();
  command->add_option("--rows", options->rows, "Rows of a timed forward: a list like 1,2,4")
      ->delimiter(',')
      ->check(IntegerFrom(1, kMostRows))
      ->capture_default_str();
  command->add_option("--repeat", options->repeat, "Forwards of each width; the best and the median count")
      ->check(IntegerFrom(1, 1000))
      ->capture_default_str();
  command->add_option("--context", options->bench.context, "Tokens before the rows")
      ->check(IntegerFrom(0, kMostTokens))
      ->capture_default_str();
  command->add_option("--prefill", options->prefill, "Tokens of the prompt to time; 0: none")
      ->check(IntegerFrom(0, kMostTokens))
      ->capture_default_str();
  command->add_option("--prefill-chunk", options->bench.prefill_chunk, "Rows of one of its forwards")
      ->check(IntegerFrom(1, kMostRows))
      ->capture_default_str();
  command->add_option("--ids-file", options->ids_file, "A JSON list of ids to score");
  command->add_flag("--full-logits", options->full_logits, "All logits of every row, not its argmax alone");
  command->add_flag("--json", options->json, "One JSON object, every sample in it");
  command->add_flag(
      "--serve", options->serve,
      "Answer requests from standard input, a line each: {\"op\": \"rows\", \"n\", \"repeat\"}, "
      "{\"op\": \"prefill\", \"tokens\"}, {\"op\": \"nll\", \"ids\"}");
  command->add_option("--threads", options->engine.threads, "0: all cores")
      ->check(IntegerFrom(0, kMostThreads));
  command->add_option("--kv-budget-mib", options->engine.kv_budget_mib, "Memory for keys and values")
      ->check(IntegerFrom(4, kMostMib))
      ->capture_default_str();
  const char* example =
      "Example:\n  forerun bench model smollm2-135m-instruct-q4_1 --rows 1,2,4,8 --repeat 9";
  bench->footer(example);
  command->footer(example);
  return {command, [options] { return RunBenchModel(*options); }};
}

}  // namespace forerun
