// A small model with the target's vocabulary writes K tokens, one forward each.
#include "core/base/status_macros.h"
#include "drafters/models/model_chain.h"
#include "drafters/registry.h"

namespace forerun {

absl::StatusOr<std::unique_ptr<Drafter>> MakeDraftModelDrafter(ObjectReader& options,
                                                               const DrafterResources& resources) {
  ModelChainOptions chain{.name = "draft_model"};
  FORERUN_RETURN_IF_ERROR(ReadChainOptions(options, *resources.draft, &chain));
  return MakeModelChainDrafter(*resources.draft, *resources.pool, std::move(chain));
}

}  // namespace forerun
