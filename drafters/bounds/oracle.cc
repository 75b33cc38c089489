// The upper bound of every table: the target itself runs ahead, with the very noise that its own draws will
// use, so under `greedy` and `exact_match` every token is accepted. Its draft time is what it costs, and no
// real drafter's.
#include "drafters/models/model_chain.h"
#include "drafters/registry.h"

namespace forerun {

absl::StatusOr<std::unique_ptr<Drafter>> MakeOracleDrafter(ObjectReader&, const DrafterResources& resources) {
  return MakeModelChainDrafter(*resources.target, *resources.pool,
                               {.name = "oracle", .sampling = DraftSampling::kCoupled});
}

}  // namespace forerun
