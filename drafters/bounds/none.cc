// Drafts nothing: every round is one plain decoding step of the target.
#include "drafters/registry.h"

namespace forerun {
namespace {

class NoneDrafter final : public Drafter {
 public:
  absl::string_view name() const override { return "none"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<DrafterState>(); }
  absl::Status Propose(std::span<DraftTask>) override { return absl::OkStatus(); }
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeNoneDrafter(ObjectReader&, const DrafterResources&) {
  return std::make_unique<NoneDrafter>();
}

}  // namespace forerun
