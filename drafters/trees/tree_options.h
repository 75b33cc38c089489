// The drafter option "tree": which form a drafted tree has.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "core/tree/tree_shape.h"
#include "drafters/trees/tree_children.h"
#include "drafters/trees/tree_growth.h"

namespace forerun {

inline constexpr int kMostTreeNodes = 256;  // below the root
inline constexpr int kDeepestTree = 32;

struct TreeOptions {
  enum class Type {
    kStatic,   // "widths": children of a node by level, or "paths": ranks as Medusa writes them
    kSequoia,  // the best form for "acceptance" and the budget
    kDynamic,  // EAGLE-2: "top_k", "depth"
    kOpt,      // OPT-Tree: "threshold", "depth"
    kDySpec,
    kAuto,  // as sequoia, with the number of nodes and levels that pays most here: measured at start-up
  };
  Type type = Type::kDynamic;
  TreeShape shape;  // static
  // Sequoia and auto: of each rank, the probability that it is the accepted one (core/tree/sequoia.h). The
  // default is a guess at a small model under a larger one of its family: measure your own pair.
  std::vector<double> acceptance = {0.6, 0.14, 0.06, 0.04, 0.02, 0.02, 0.01, 0.01};
  int max_nodes = 32;        // auto: most nodes measured and chosen
  RankedTreeOptions ranked;  // dynamic and opt
};

// Of the options' "tree" (dynamic where it is missing) and "sample". InvalidArgument in one line, also where
// the form would look at what was drawn in a way that no rule allows for.
absl::StatusOr<TreeOptions> ReadTreeOptions(ObjectReader& options, ChildSampling sampling);
ChildSampling ReadChildSampling(ObjectReader& options);
// InvalidArgument for `auto`, of a drafter without a draft model that could be timed.
absl::Status RefuseAutoTree(const TreeOptions& tree, absl::string_view drafter);

}  // namespace forerun
