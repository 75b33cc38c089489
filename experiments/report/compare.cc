#include "experiments/report/compare.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/check.h"
#include "core/base/damage.h"
#include "core/base/status_macros.h"
#include "core/verify/registry.h"
#include "experiments/config/sampling_config.h"
#include "experiments/report/loops.h"

namespace forerun {
namespace {

Requests Select(const LoadedRun& run, const std::string& arm, const std::string& category) {
  Requests selected;
  for (const LoggedRequest& request : run.records.requests) {
    const bool wanted = category == kAllCategories || request.row.category == category;
    if (request.row.arm == arm && wanted) selected.push_back(&request);
  }
  return selected;
}

std::vector<std::string> Categories(const LoadedRun& run) {
  std::vector<std::string> categories;
  for (const LoggedRequest& request : run.records.requests) {
    const std::string& category = request.row.category;
    if (std::find(categories.begin(), categories.end(), category) == categories.end())
      categories.push_back(category);
  }
  return categories;
}

std::string LawOf(const ArmConfig& arm) {
  const absl::StatusOr<std::unique_ptr<Verifier>> rule = MakeRule(arm.verifier);
  FORERUN_CHECK(rule.ok());  // the config was read, so its rule was made before
  return LawName(LawOf(**rule, arm.sampling));
}

// Bitwise only where every session kept both invariances.
std::string ArithmeticOf(const Json& environment) {
  for (const Json& session : environment["sessions"]) {
    const Json invariances = session.value("invariances", Json::object());
    for (const char* name : {"width_invariant", "tree_invariant"}) {
      if (!invariances.is_object() || invariances.value(name, Json()) != Json("bitwise")) return "tolerance";
    }
  }
  return "bitwise";
}

// As the last session planned; 0 where it does not say.
int PlannedRequests(const Json& environment) {
  const Json planned = environment["sessions"].back().value("requests_planned", Json());
  return planned.is_number_integer() ? planned.get<int>() : 0;
}

// Only greedy decoding and draws keyed by position promise the baseline's very text, and only under its own
// sampling.
bool PromisesSameText(const ArmConfig& arm, const ArmConfig& baseline) {
  const bool same = SamplingJson(arm.sampling) == SamplingJson(baseline.sampling);
  return same && (LawOf(arm) == LawName(Law::kGreedyIdentical) ||
                  (arm.rule == "exact_match" && baseline.rule == "exact_match"));
}

void FillCounts(const Requests& requests, ComparisonRow* row) {
  std::set<std::string> prompts;
  for (const LoggedRequest* request : requests) {
    row->errors += !request->row.error.empty();
    row->requests += request->row.error.empty();
    if (request->row.error.empty()) prompts.insert(request->row.prompt);
  }
  row->prompts = static_cast<int>(prompts.size());
  for (const LoggedRequest* request : requests) {
    const int64_t loop_tokens = LoopTokens(request->row.output);
    row->loops += loop_tokens > 0;
    row->loop_tokens += loop_tokens;
  }
  if (!requests.empty()) row->drafter_note = requests[0]->row.drafter_note;
  row->counts = CountRounds(requests);
  row->time = SplitTime(requests);
  row->tau = Tau(requests);
  row->tau_request_mean = TauRequestMean(requests);
  row->acceptance_rate = AcceptanceRate(requests);
  row->coverage = Coverage(requests);
  row->positions = MeasurePositions(requests);
  row->tokens_per_second = TokensPerSecond(requests);
  row->ms_per_round = MillisecondsPerRound(requests);
}

void FillSpeedup(const std::vector<RatioTerm>& terms, ComparisonRow* row) {
  if (row->is_baseline) {
    if (row->requests > 0) row->speedup = 1;
    return;
  }
  row->paired_prompts = static_cast<int>(terms.size());
  if (!terms.empty()) row->speedup = RatioOfSums(terms);
  row->speedup_interval = BootstrapRatio(terms);
}

const ArmConfig* FindArm(const ExperimentConfig& config, const std::string& name) {
  const auto found = std::find_if(config.arms.begin(), config.arms.end(),
                                  [&name](const ArmConfig& arm) { return arm.name == name; });
  return found == config.arms.end() ? nullptr : &*found;
}

// The arms of one category against `reference`.
void CompareCategory(const LoadedRun& run, const std::string& category, const ArmConfig& reference,
                     std::vector<ComparisonRow>* rows) {
  const ArmConfig& baseline = run.config.arms[run.config.baseline];
  const Requests baseline_requests = Select(run, baseline.name, category);
  const Requests reference_requests = Select(run, reference.name, category);
  for (const ArmConfig& arm : run.config.arms) {
    const Requests requests = Select(run, arm.name, category);
    ComparisonRow row;
    row.run = run.directory;
    row.arm = arm.name;
    row.category = category;
    row.is_baseline = arm.name == reference.name;
    row.law = LawOf(arm);
    row.arithmetic = ArithmeticOf(run.environment);
    row.requests_done = static_cast<int>(run.records.requests.size());
    row.requests_planned = PlannedRequests(run.environment);
    FillCounts(requests, &row);
    FillSpeedup(reference.name == baseline.name ? SpeedupTerms(requests, baseline_requests)
                                                : SpeedupTermsAgainst(requests, reference_requests),
                &row);
    row.draft_cost = DraftCost(requests, baseline_requests);
    row.verify_cost = VerifyCost(requests, baseline_requests);
    if (PromisesSameText(arm, baseline)) row.identity = CompareOutputs(requests, baseline_requests);
    rows->push_back(std::move(row));
  }
}

}  // namespace

absl::StatusOr<LoadedRun> LoadRun(const std::string& directory) {
  std::error_code error;
  if (!std::filesystem::exists(directory + "/" + kConfigFile, error)) {
    return absl::NotFoundError(absl::StrCat(directory, ": no run here (expected ", kConfigFile, ")"));
  }
  LoadedRun run;
  run.directory = directory;
  FORERUN_ASSIGN_OR_RETURN(run.config, AsDamage(LoadConfig(directory + "/" + kConfigFile, {})));
  FORERUN_ASSIGN_OR_RETURN(run.records, ReadRunRecords(directory));
  const std::string path = directory + "/" + kEnvironmentFile;
  FORERUN_ASSIGN_OR_RETURN(run.environment, AsDamage(ReadJsonFile(path)));
  const Json sessions = run.environment.is_object() ? run.environment.value("sessions", Json()) : Json();
  const auto is_object = [](const Json& session) { return session.is_object(); };
  if (!sessions.is_array() || sessions.empty() || !std::all_of(sessions.begin(), sessions.end(), is_object)) {
    return absl::DataLossError(path + ": expected {\"sessions\": [{...}, ...]}");
  }
  return run;
}

absl::StatusOr<std::vector<ComparisonRow>> CompareRun(const LoadedRun& run, const CompareOptions& options) {
  const ArmConfig* reference =
      options.against.empty() ? &run.config.arms[run.config.baseline] : FindArm(run.config, options.against);
  if (reference == nullptr) {
    const auto name = [](std::string* out, const ArmConfig& arm) { out->append(arm.name); };
    return absl::InvalidArgumentError(absl::StrCat(run.directory, ": expected an arm to compare against of ",
                                                   absl::StrJoin(run.config.arms, ", ", name), ", found ",
                                                   options.against));
  }
  std::vector<std::string> categories = {kAllCategories};
  if (options.by_category) {
    for (std::string& category : Categories(run)) categories.push_back(std::move(category));
  }
  std::vector<ComparisonRow> rows;
  for (const std::string& category : categories) CompareCategory(run, category, *reference, &rows);
  return rows;
}

}  // namespace forerun
