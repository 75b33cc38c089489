// The drafter of a recurrent head: chains, or trees of any form. Keeps the keys and values of the head; a
// round costs one pass over the rows that were accepted, and one for each further level.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "drafters/heads/recurrent_head.h"
#include "drafters/registry.h"
#include "drafters/trees/tree_options.h"

namespace forerun {

struct RecurrentOptions {
  std::string path;  // of the head
  ChildSampling sampling = ChildSampling::kGreedy;
  double min_confidence = 0;        // of chains
  std::optional<TreeOptions> tree;  // none: chains
};
// "heads", "sample", "min_confidence" and "tree"; `name`: the drafter's.
absl::StatusOr<RecurrentOptions> ReadRecurrentOptions(ObjectReader& reader, absl::string_view name);

absl::StatusOr<std::unique_ptr<Drafter>> MakeRecurrentDrafter(std::string name, std::string note,
                                                              std::unique_ptr<RecurrentHead> head,
                                                              const RecurrentOptions& options,
                                                              const DrafterResources& resources);
// As keys and values of the target are kept.
KvDtype TargetKvDtype(const DrafterResources& resources);

}  // namespace forerun
