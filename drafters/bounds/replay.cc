// Replays a recorded log: for each request what the run of the same number wrote, as long as the text is that
// of the log; nothing once it has departed. So a run can be judged again under other settings or on another
// machine with drafts that cost nothing and always stand: what perfect foresight would be worth. Keeps
// nothing; the log is read once. Rounds of a log have no drafted words, so what it is replayed from is the
// emitted ones.
#include <fstream>
#include <unordered_map>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

constexpr char kWhere[] = "drafter.replay";

struct ReplayLog {
  std::string arm;
  std::unordered_map<uint64_t, std::vector<TokenId>> outputs;  // by request
};

class ReplayDrafter final : public Drafter {
 public:
  explicit ReplayDrafter(ReplayLog log) : log_(std::move(log)) {}
  absl::string_view name() const override { return "replay"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  std::string note() const override {
    return absl::StrCat("arm ", log_.arm, ", ", log_.outputs.size(), " requests");
  }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<DrafterState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      const auto found = log_.outputs.find(task.request);
      if (found == log_.outputs.end()) continue;
      const std::vector<TokenId>& output = found->second;
      const std::span<const TokenId> written = task.committed.subspan(task.prompt_length);
      if (written.size() > output.size() || !std::equal(written.begin(), written.end(), output.begin()))
        continue;
      const std::size_t most = std::min<std::size_t>(output.size() - written.size(),
                                                     std::max(0, std::min(task.budget, task.max_depth)));
      for (std::size_t i = 0; i < most; ++i) {
        task.tree->Add(static_cast<int>(i), output[written.size() + i]);
      }
    }
    return absl::OkStatus();
  }

 private:
  ReplayLog log_;
};

struct LoggedRound {
  std::string arm;
  uint64_t request = 0;
  std::vector<TokenId> emitted;
};

// A line of rounds.jsonl (experiments/run/records.md): its unit is "prompt/arm/repetition".
absl::StatusOr<LoggedRound> ReadRound(const std::string& line, const std::string& where, int vocab_size) {
  FORERUN_ASSIGN_OR_RETURN(const Json json, ParseJson(line, where));
  const auto wrong = [&](absl::string_view what) {
    return absl::DataLossError(absl::StrCat(where, ": ", what));
  };
  const auto has = [&](const char* key) { return json.is_object() && json.contains(key); };
  if (!has("unit") || !json["unit"].is_string() || !has("request") || !json["request"].is_number_unsigned() ||
      !has("emitted") || !json["emitted"].is_array()) {
    return wrong("expected a round with unit, request and emitted, found something else");
  }
  const std::string unit = json["unit"].get<std::string>();
  const std::size_t end = unit.rfind('/'), begin = end == 0 || end == std::string::npos
                                                       ? std::string::npos
                                                       : unit.rfind('/', end - 1);
  if (begin == std::string::npos)
    return wrong(absl::StrCat("unit: expected prompt/arm/repetition, found ", unit));
  LoggedRound round{
      .arm = unit.substr(begin + 1, end - begin - 1), .request = json["request"], .emitted = {}};
  if (unit.substr(end + 1) != "0") round.arm.clear();  // the first repetition speaks for all
  for (const Json& id : json["emitted"]) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() >= static_cast<uint64_t>(vocab_size)) {
      return wrong(absl::StrCat("emitted: expected ids below ", vocab_size, ", found ", DumpJson(id)));
    }
    round.emitted.push_back(id.get<TokenId>());
  }
  return round;
}

// `arm`: empty: the first one of the log. A last line without its newline was being written, and is left out.
absl::StatusOr<ReplayLog> ReadLog(const std::string& run, std::string arm, int vocab_size) {
  const std::string path = absl::StrCat(run, "/rounds.jsonl");
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(absl::StrCat(kWhere, ".log: ", path, ": cannot be read"));
  ReplayLog log;
  std::string line;
  for (int64_t number = 1; std::getline(file, line) && !file.eof(); ++number) {
    FORERUN_ASSIGN_OR_RETURN(LoggedRound round, ReadRound(line, absl::StrCat(path, ":", number), vocab_size));
    if (arm.empty()) arm = round.arm;
    if (arm.empty() || round.arm != arm) continue;
    std::vector<TokenId>& output = log.outputs[round.request];
    output.insert(output.end(), round.emitted.begin(), round.emitted.end());
  }
  if (log.outputs.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        kWhere, ": expected rounds of ", arm.empty() ? "any arm" : absl::StrCat("arm \"", arm, "\""), " in ",
        path, ", found none"));
  }
  log.arm = arm;
  return log;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeReplayDrafter(ObjectReader& options,
                                                           const DrafterResources& resources) {
  std::string run, arm;
  if (const Json* own = options.Object("replay")) {
    ObjectReader reader(*own, kWhere);
    run = reader.String("log", "");
    arm = reader.String("arm", "");
    FORERUN_RETURN_IF_ERROR(reader.Finish());
  }
  if (run.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat(kWhere, ".log: expected the directory of a run, found none"));
  }
  FORERUN_ASSIGN_OR_RETURN(ReplayLog log, ReadLog(run, std::move(arm), resources.target->vocab_size()));
  return std::make_unique<ReplayDrafter>(std::move(log));
}

}  // namespace forerun
