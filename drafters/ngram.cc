// Prompt lookup (Saxena 2023; "prompt lookup decoding"): the last n words are looked for earlier in the
// context, the longest n first, the latest occurrence first, and what followed them there is proposed. Keeps
// nothing; one backward scan of the context a round.
#include "core/base/status_macros.h"
#include "drafters/lookup.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

class NgramDrafter final : public Drafter {
 public:
  explicit NgramDrafter(const LookupRange& range) : range_(range) {}
  absl::string_view name() const override { return "ngram"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<DrafterState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      const LookupMatch match = FindLatestMatch(task.committed, range_);
      for (const TokenId token : Continuation(task.committed, match, task.budget))
        task.tree->Add(task.tree->size() - 1, token);
    }
    return absl::OkStatus();
  }

 private:
  LookupRange range_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeNgramDrafter(ObjectReader& options, const DrafterResources&) {
  LookupRange range;
  if (const Json* ngram = options.Object("ngram")) {
    ObjectReader reader(*ngram, "drafter.ngram");
    absl::StatusOr<LookupRange> read = ReadLookupRange(reader, "drafter.ngram", range);
    FORERUN_RETURN_IF_ERROR(reader.Finish());
    FORERUN_ASSIGN_OR_RETURN(range, std::move(read));
  }
  return std::make_unique<NgramDrafter>(range);
}

}  // namespace forerun
