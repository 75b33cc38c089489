// A small model with the target's vocabulary writes K tokens, one forward each.
#include "core/base/status_macros.h"
#include "drafters/model_chain.h"
#include "drafters/registry.h"
#include "drafters/shortlist_file.h"

namespace forerun {

absl::StatusOr<std::unique_ptr<Drafter>> MakeDraftModelDrafter(ObjectReader& options,
                                                               const DrafterResources& resources) {
  ModelChainOptions chain{.name = "draft_model"};
  const std::string sample = options.Choice("sample", "greedy", {"greedy", "sampled", "coupled"});
  if (sample == "sampled") chain.sampling = DraftSampling::kSampled;
  if (sample == "coupled") chain.sampling = DraftSampling::kCoupled;
  chain.min_confidence = options.Number("min_confidence", 0, 0, 1);
  FORERUN_ASSIGN_OR_RETURN(chain.shortlist, ShortlistOption(options, *resources.draft));
  return MakeModelChainDrafter(*resources.draft, *resources.pool, std::move(chain));
}

}  // namespace forerun
