// The lower bound of every table: words drawn evenly from the vocabulary, whatever came before.
#include "drafters/registry.h"

namespace forerun {
namespace {

class RandomDrafter final : public Drafter {
 public:
  explicit RandomDrafter(int vocab_size) : vocab_size_(vocab_size) {}
  absl::string_view name() const override { return "random"; }
  // The choice owes nothing to the target, so each word is a point mass of its own.
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<DrafterState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      for (int i = 0; i < task.budget; ++i) {
        const double u = Uniform({.seed = task.sampling->seed,
                                  .request = task.request,
                                  .place = task.committed.size(),
                                  .node = static_cast<uint64_t>(i + 1),
                                  .purpose = Purpose::kDraft});
        task.tree->Add(i, static_cast<TokenId>(u * vocab_size_));
      }
    }
    return absl::OkStatus();
  }

 private:
  int vocab_size_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeRandomDrafter(ObjectReader&, const DrafterResources& resources) {
  return std::make_unique<RandomDrafter>(resources.target->vocab_size());
}

}  // namespace forerun
