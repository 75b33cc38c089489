// EAGLE-1, EAGLE-2 and EAGLE-3 (Li et al., arXiv:2401.15077, 2406.16858, 2503.01840): a head of one layer
// drafts from the target's hidden states (eagle_head.h, recurrent_drafter.h).
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "drafters/heads/eagle_head.h"
#include "drafters/heads/recurrent_drafter.h"

namespace forerun {

absl::StatusOr<std::unique_ptr<Drafter>> MakeEagleDrafter(ObjectReader& options,
                                                          const DrafterResources& resources) {
  FORERUN_ASSIGN_OR_RETURN(const RecurrentOptions recurrent, ReadRecurrentOptions(options, "eagle"));
  Model& target = *resources.target;
  FORERUN_ASSIGN_OR_RETURN(HeadFiles files, HeadFiles::Open(recurrent.path));
  FORERUN_ASSIGN_OR_RETURN(EagleHead head, EagleHead::Load(std::move(files), *target.backbone(),
                                                           target.vocab_size(), TargetKvDtype(resources)));
  const std::string note =
      absl::StrCat(head.is_eagle3() ? "EAGLE-3" : "EAGLE-1", ", taps ", absl::StrJoin(head.taps(), " "));
  return MakeRecurrentDrafter("eagle", note, std::make_unique<EagleHead>(std::move(head)), recurrent,
                              resources);
}

}  // namespace forerun
