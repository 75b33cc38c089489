// Drafts that are right as often as one asks: the oracle's words, each wrong with a given chance, for the
// question what a drafter of that quality would be worth. `acceptance[i]` is the chance that the word at
// depth i + 1 is the target's own once those above it are; the last goes on below. Under `greedy` and
// `exact_match` that is the acceptance, and the output stays exact, unlike under the rule `synthetic`; other
// rules judge these words as the point masses that they are, and accept less. Its draft time is the oracle's:
// a forward of the target a word.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "drafters/models/model_chain.h"
#include "drafters/registry.h"

namespace forerun {
namespace {

class SyntheticDrafter final : public Drafter {
 public:
  SyntheticDrafter(std::unique_ptr<Drafter> oracle, std::vector<double> acceptance, int vocab_size)
      : oracle_(std::move(oracle)), acceptance_(std::move(acceptance)), vocab_size_(vocab_size) {}
  absl::string_view name() const override { return "synthetic"; }
  // Wrong words owe nothing to the target, so each word is a point mass of its own.
  Proposal proposal(const Sampling&) const override { return Proposal::kDeterministic; }
  bool coupled(const Sampling& sampling) const override { return oracle_->coupled(sampling); }
  absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return oracle_->Open(); }

  absl::Status Propose(std::span<DraftTask> tasks) override {
    std::vector<DraftTask> asked(tasks.begin(), tasks.end());
    std::vector<TokenTree> words;
    for (const DraftTask& task : tasks) words.emplace_back(task.committed.back());
    for (std::size_t i = 0; i < asked.size(); ++i) asked[i].tree = &words[i];
    FORERUN_RETURN_IF_ERROR(oracle_->Propose(asked));
    for (std::size_t i = 0; i < asked.size(); ++i) {
      tasks[i].status = asked[i].status;
      for (int node = 1; node < words[i].size(); ++node)
        tasks[i].tree->Add(node - 1, Spoilt(tasks[i], node, words[i].node(node).token));
    }
    return absl::OkStatus();
  }

 private:
  // The word at depth `node` of a chain: `right`, or any other.
  TokenId Spoilt(const DraftTask& task, int node, TokenId right) const {
    RandomKey key = {.seed = task.sampling->seed,
                     .request = task.request,
                     .place = task.committed.size(),
                     .node = 2 * static_cast<uint64_t>(node),
                     .purpose = Purpose::kDraft};
    const std::size_t depth = std::min<std::size_t>(node, acceptance_.size()) - 1;
    if (vocab_size_ < 2 || Uniform(key) < acceptance_[depth]) return right;
    ++key.node;
    const int others = vocab_size_ - 1;
    return (right + 1 + static_cast<TokenId>(Uniform(key) * others)) % vocab_size_;
  }

  std::unique_ptr<Drafter> oracle_;
  std::vector<double> acceptance_;  // not empty
  int vocab_size_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Drafter>> MakeSyntheticDrafter(ObjectReader& options,
                                                              const DrafterResources& resources) {
  std::vector<double> acceptance;
  if (const Json* own = options.Object("synthetic")) {
    constexpr char kKey[] = "acceptance", kExpected[] = "a list of numbers from 0 to 1 that is not empty";
    ObjectReader reader(*own, "drafter.synthetic");
    const Json* array = reader.Array(kKey);
    for (const Json& entry : array == nullptr ? Json::array() : *array) {
      const double value = entry.is_number() ? entry.get<double>() : -1;
      if (!(value >= 0 && value <= 1)) reader.Fail(kKey, kExpected);
      acceptance.push_back(value);
    }
    if (acceptance.empty()) reader.Fail(kKey, kExpected);
    FORERUN_RETURN_IF_ERROR(reader.Finish());
  }
  if (acceptance.empty()) acceptance = {0.7};
  std::unique_ptr<Drafter> oracle = MakeModelChainDrafter(
      *resources.target, *resources.pool, {.name = "synthetic", .sampling = DraftSampling::kCoupled});
  return std::make_unique<SyntheticDrafter>(std::move(oracle), std::move(acceptance),
                                            resources.target->vocab_size());
}

}  // namespace forerun
