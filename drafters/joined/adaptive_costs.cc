#include "drafters/joined/adaptive_costs.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <span>

#include "core/base/status_macros.h"
#include "core/model/read_tokens.h"
#include "drafters/reading/row_timing.h"

namespace forerun {
namespace {

constexpr int kText = 48, kPeriod = 8;  // tokens
constexpr int kDrafted = 4, kRepeats = 4;
constexpr int kRows[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32};

absl::StatusOr<double> SecondsANode(Drafter& drafter, DraftTask task) {
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < kRepeats; ++repeat) {  // the first one reads the text
    TokenTree tree(task.committed.back());
    task.tree = &tree;
    const auto start = std::chrono::steady_clock::now();
    FORERUN_RETURN_IF_ERROR(drafter.Propose({&task, 1}));
    FORERUN_RETURN_IF_ERROR(task.status);
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    best = std::min(best, spent.count() / std::min(kDrafted, tree.num_drafted() + 1));
  }
  return best;
}

}  // namespace

void ReadVerifyCost(ObjectReader& reader, AdaptiveOptions* options) {
  const Json* list = reader.Array("verify_cost");
  if (list == nullptr) return;
  options->verify_cost.clear();
  bool good = list->size() >= 2;
  for (const Json& pair : *list) {
    good = good && pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() &&
           pair[0].get<uint64_t>() <= 4096 && pair[1].is_number() && pair[1].get<double>() > 0;
    if (!good) break;
    const std::pair<int, double> point = {pair[0].get<int>(), pair[1].get<double>()};
    const std::pair<int, double> before =
        options->verify_cost.empty() ? std::pair(0, 0.0) : options->verify_cost.back();
    good = point.first > before.first && point.second >= before.second;
    options->verify_cost.push_back(point);
  }
  if (!good) reader.Fail("verify_cost", "[[rows, cost], ...], at least two, rows and costs rising");
}

absl::Status MeasureCosts(const std::vector<DrafterPart>& parts, const DrafterResources& resources,
                          AdaptiveOptions* options) {
  Model& target = *resources.target;
  FORERUN_ASSIGN_OR_RETURN(const RowTiming timing,
                           RowTiming::Measure(target, *resources.pool, kRows, nullptr));
  const double step = timing.Seconds(1);
  options->verify_cost.clear();
  for (const int rows : kRows) {
    const double before = options->verify_cost.empty() ? 1 : options->verify_cost.back().second;
    options->verify_cost.push_back({rows, std::max(before, timing.Seconds(rows) / step)});
  }

  std::vector<TokenId> text;
  for (int i = 0; i < std::min(kText, target.context_length() - kDrafted - 1); ++i) {
    text.push_back(i % std::min(kPeriod, target.vocab_size()));
  }
  BlockTable table(*resources.pool, target.kv_layout_id());
  const std::span<const TokenId> all_but_root = std::span(text).first(text.size() - 1);
  FORERUN_RETURN_IF_ERROR(ReadTokens(target, table, all_but_root).status());

  const Sampling greedy;
  options->draft_costs.clear();
  for (const DrafterPart& part : parts) {
    FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<DrafterState> state, part.drafter->Open());
    DraftTask task;
    task.state = state.get();
    task.committed = text;
    task.prompt_length = static_cast<int>(text.size());
    task.sampling = &greedy;
    task.budget = task.max_depth = kDrafted;
    task.target_table = &table;
    FORERUN_ASSIGN_OR_RETURN(const double seconds, SecondsANode(*part.drafter, task));
    options->draft_costs.push_back(seconds / step);
  }
  return absl::OkStatus();
}

}  // namespace forerun
