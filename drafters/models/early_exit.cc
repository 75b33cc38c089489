// Early exit (LayerSkip; Elhoushi et al. 2024, arXiv:2404.16710): the target's first layers and its head
// write the chain, on the target's own keys and values of what was committed. No other model and no memory of
// its own; the target need not be trained for it, but drafts better if it was.
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/models/model_chain.h"
#include "drafters/registry.h"

namespace forerun {

absl::StatusOr<std::unique_ptr<Drafter>> MakeEarlyExitDrafter(ObjectReader& options,
                                                              const DrafterResources& resources) {
  const Json* const own = options.Object("early_exit");
  ModelChainOptions chain{.name = "early_exit"};
  FORERUN_RETURN_IF_ERROR(ReadChainOptions(options, *resources.target, &chain));
  const int all = resources.target->num_layers();
  int kept = (all + 1) / 2;
  if (own != nullptr) {
    ObjectReader reader(*own, "drafter.early_exit");
    kept = static_cast<int>(reader.Int("layers", kept, 1, all));
    FORERUN_RETURN_IF_ERROR(reader.Finish());
  }
  chain.note = absl::StrCat("first ", kept, " of ", all, " layers");
  chain.choose_layers = [subset = std::make_shared<const LayerSubset>(LayerSubset::First(all, kept))](
                            const DraftTask&) { return subset; };
  return MakeModelChainDrafter(*resources.target, *resources.pool, std::move(chain));
}

}  // namespace forerun
