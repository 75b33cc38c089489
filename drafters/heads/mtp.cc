// Multi-token prediction (DeepSeek-V3, arXiv:2412.19437; Qwen3-Next, Qwen3.5): the layer that the target was
// trained with drafts from the target's hidden states, again and again (mtp_head.h, recurrent_drafter.h).
#include "core/base/status_macros.h"
#include "drafters/heads/mtp_head.h"
#include "drafters/heads/recurrent_drafter.h"

namespace forerun {

absl::StatusOr<std::unique_ptr<Drafter>> MakeMtpDrafter(ObjectReader& options,
                                                        const DrafterResources& resources) {
  FORERUN_ASSIGN_OR_RETURN(const RecurrentOptions recurrent, ReadRecurrentOptions(options, "mtp"));
  Model& target = *resources.target;
  FORERUN_ASSIGN_OR_RETURN(HeadFiles files, HeadFiles::Open(recurrent.path));
  FORERUN_ASSIGN_OR_RETURN(
      std::unique_ptr<MtpHead> head,
      MtpHead::Load(files, *target.backbone(), target.vocab_size(), TargetKvDtype(resources)));
  return MakeRecurrentDrafter("mtp", kNotRunOnPublished, std::move(head), recurrent, resources);
}

}  // namespace forerun
