// Prompt lookup (Saxena 2023; "prompt lookup decoding"): the last n words are looked for earlier in the
// context, the longest n first, the latest occurrence first, and what followed them there is proposed. Keeps
// nothing; one backward scan of the context a round.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

constexpr int kLongestNgram = 64;

class NgramDrafter final : public Drafter {
 public:
  NgramDrafter(int least, int most) : least_(least), most_(most) {}
  absl::string_view name() const override { return "ngram"; }
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return std::make_unique<DrafterState>(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    for (DraftTask& task : tasks) {
      const std::span<const TokenId> found = Continuation(task.committed, task.budget);
      for (std::size_t i = 0; i < found.size(); ++i) task.tree->Add(static_cast<int>(i), found[i]);
    }
    return absl::OkStatus();
  }

 private:
  // What followed the best match, at most `budget` tokens; empty where there is none.
  std::span<const TokenId> Continuation(std::span<const TokenId> context, int budget) const {
    const int size = static_cast<int>(context.size());
    int best_end = -1;  // index after the match
    int best_length = least_ - 1;
    for (int end = size - 1; end > best_length && best_length < most_; --end) {
      int length = 0;
      while (length < most_ && length < end && context[end - 1 - length] == context[size - 1 - length])
        ++length;
      if (length > best_length) {
        best_length = length;
        best_end = end;
      }
    }
    if (best_end < 0 || budget == 0) return {};
    return context.subspan(best_end, std::min(budget, size - best_end));
  }

  int least_, most_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeNgramDrafter(ObjectReader& options, const DrafterResources&) {
  int least = 1, most = 3;
  if (const Json* ngram = options.Object("ngram")) {
    ObjectReader reader(*ngram, "drafter.ngram");
    least = static_cast<int>(reader.Int("min", 1, 1, kLongestNgram));
    most = static_cast<int>(reader.Int("max", 3, 1, kLongestNgram));
    if (absl::Status status = reader.Finish(); !status.ok()) return status;
    if (least > most) {
      return absl::InvalidArgumentError(
          absl::StrCat("drafter.ngram: expected min <= max, found min ", least, " and max ", most));
    }
  }
  return std::make_unique<NgramDrafter>(least, most);
}

}  // namespace forerun
