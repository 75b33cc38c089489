#include "experiments/commands/bench_serve.h"

#include <string>

#include "core/base/json.h"
#include "core/base/status_macros.h"
#include "experiments/base/token_ids.h"
#include "experiments/bench/speed.h"
#include "experiments/commands/checks.h"
#include "experiments/commands/json_lines.h"
#include "experiments/texts/scoring.h"

namespace forerun {
namespace {

class Server {
 public:
  Server(Machine& machine, LoadedModel loaded, const ModelBenchOptions& options, int context)
      : machine_(machine),
        loaded_(std::move(loaded)),
        options_(options),
        context_(context),
        bench_(*loaded_.model, machine.pool(), options) {}

  Json Describe() const {
    Json json;
    json["model"] = loaded_.path;
    json["isa"] = IsaName(machine_.kernels().isa);
    json["threads"] = machine_.num_threads();
    json["output"] =
        options_.wanted == WantedOutput::kFull ? "full logits of every row" : "argmax of every row";
    json["context"] = context_;
    return json;
  }

  absl::StatusOr<Json> Answer(const std::string& line) {
    FORERUN_ASSIGN_OR_RETURN(const Json request, ParseJson(line, "request"));
    ObjectReader reader(request, "request");
    const std::string op = reader.Choice("op", "", {"rows", "prefill", "nll"});
    const int rows = op == "rows" ? reader.Int("n", 1, 1, kMostRows) : 0;
    const int repeat = op == "rows" ? reader.Int("repeat", 1, 1, 1000) : 0;
    const int context = op == "rows" ? reader.Int("context", context_, 0, kMostContext) : 0;
    const int tokens = op == "prefill" ? reader.Int("tokens", 512, 1, kMostContext) : 0;
    const Json* ids = op == "nll" ? reader.Array("ids") : nullptr;
    FORERUN_RETURN_IF_ERROR(reader.Finish());
    if (op == "rows") return Rows(context, rows, repeat);
    if (op == "prefill") return Prefill(tokens);
    return Nll(ids == nullptr ? Json() : *ids);
  }

 private:
  absl::StatusOr<Json> Rows(int context, int rows, int repeat) {
    SpeedOfRows measured = {rows, {}};
    FORERUN_ASSIGN_OR_RETURN(measured.samples_ms, bench_.TimeRows(context, rows, repeat));
    Json json;
    json["n"] = rows;
    json["ms"] = measured.best_ms();
    json["median_ms"] = measured.median_ms();
    json["samples_ms"] = measured.samples_ms;
    return json;
  }

  absl::StatusOr<Json> Prefill(int tokens) {
    FORERUN_ASSIGN_OR_RETURN(const double seconds, bench_.TimePrefill(tokens));
    Json json;
    json["prefill_tokens"] = tokens;
    json["prefill_tokens_per_second"] = tokens / seconds;
    return json;
  }

  absl::StatusOr<Json> Nll(const Json& ids) {
    FORERUN_ASSIGN_OR_RETURN(const std::vector<TokenId> tokens, ReadTokenIds(ids, "ids"));
    FORERUN_ASSIGN_OR_RETURN(const Score score,
                             ScoreTokens(*loaded_.model, machine_.pool(), tokens, ScoreOptions()));
    Json json;
    json["ids"] = ids.size();
    json["mean_nll"] = score.mean_nll() ? Json(*score.mean_nll()) : Json();
    return json;
  }

  Machine& machine_;
  LoadedModel loaded_;
  ModelBenchOptions options_;
  int context_;
  ModelBench bench_;
};

}  // namespace

absl::Status ServeBench(Machine& machine, const std::string& model, const ModelBenchOptions& options,
                        int context) {
  FORERUN_ASSIGN_OR_RETURN(LoadedModel loaded, machine.Load(model));
  Server server(machine, std::move(loaded), options, context);
  AnswerJsonLines(server.Describe(), [&](const std::string& line) { return server.Answer(line); });
  return absl::OkStatus();
}

}  // namespace forerun
