#include "drafters/trees/tree_forms.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "drafters/reading/row_timing.h"

namespace forerun {
namespace {

// With the root.
std::vector<int> SizesUpTo(int most) {
  std::vector<int> sizes;
  for (int size = 1; size < most; size += std::max(1, size / 3)) sizes.push_back(size);
  sizes.push_back(most);
  return sizes;
}

}  // namespace

TreeForms::TreeForms(TreeOptions options, ChildSampling sampling)
    : options_(std::move(options)), sampling_(sampling) {
  if (options_.type == TreeOptions::Type::kSequoia || measures()) {
    table_.emplace(options_.acceptance, kMostTreeNodes + 1, kDeepestTree + 1);
  }
}

bool TreeForms::chains_only() const {
  return options_.type == TreeOptions::Type::kStatic &&
         options_.shape.max_depth() == options_.shape.size() - 1;
}

absl::Status TreeForms::Measure(const DrafterResources& resources, const Shortlist* shortlist) {
  const std::vector<int> sizes = SizesUpTo(options_.max_nodes + 1);
  FORERUN_ASSIGN_OR_RETURN(const RowTiming target,
                           RowTiming::Measure(*resources.target, *resources.pool, sizes, nullptr));
  FORERUN_ASSIGN_OR_RETURN(const RowTiming draft,
                           RowTiming::Measure(*resources.draft, *resources.pool, sizes, shortlist));
  // The root, then every level but the last is read, each taken to be as wide as the mean.
  const auto seconds = [&](int nodes, int levels) {
    if (levels == 1) return target.Seconds(nodes);
    const double width = static_cast<double>(nodes - 1) / (levels - 1);
    return target.Seconds(nodes) + draft.Seconds(1) + (levels - 2) * draft.Seconds(width);
  };
  const TreeChoice choice = ChooseTree(*table_, sizes, seconds);
  most_drafted_ = choice.nodes - 1;
  deepest_ = choice.levels - 1;
  note_ = absl::StrFormat("auto: %d nodes, depth %d, predicted %.2fx, measured on this machine",
                          most_drafted_, deepest_, choice.speedup);
  return absl::OkStatus();
}

std::unique_ptr<TreeGrowth> TreeForms::Start(DraftTask& task, int depth_left) {
  const int depth = std::min({task.max_depth, depth_left, deepest_});
  if (depth == 0) return nullptr;
  RankedTreeOptions ranked = options_.ranked;
  ranked.max_depth = std::min(ranked.max_depth, depth);
  switch (options_.type) {
    case TreeOptions::Type::kStatic:
      return GrowShape(task, options_.shape.Cut(task.budget, depth), sampling_);
    case TreeOptions::Type::kDynamic:
    case TreeOptions::Type::kOpt:
      return GrowRanked(task, ranked);
    case TreeOptions::Type::kDySpec:
      return GrowDySpec(task, depth, sampling_);
    case TreeOptions::Type::kSequoia:
    case TreeOptions::Type::kAuto:
      return GrowShape(task, BestShape(std::min(task.budget, most_drafted_), depth), sampling_);
  }
  FORERUN_CHECK(false);
}

const TreeShape& TreeForms::BestShape(int budget, int depth) {
  const auto [entry, is_new] = shapes_.try_emplace({budget, depth});
  if (is_new) entry->second = table_->Shape(table_->BestSize(budget + 1, depth + 1), depth + 1);
  return entry->second;
}

}  // namespace forerun
