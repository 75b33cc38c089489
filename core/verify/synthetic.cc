// For timing alone: how fast would a round be if drafts were accepted this often? The first child of each
// node stands with a given probability by depth, whatever it is; `acceptance[i]` is that of depth i + 1 once
// the one above stood, and the last goes on below. The next token is the target's own.
#include <algorithm>
#include <utility>
#include <vector>

#include "core/verify/rules.h"

namespace forerun {
namespace {

class Synthetic final : public Verifier {
 public:
  explicit Synthetic(std::vector<double> acceptance) : acceptance_(std::move(acceptance)) {}
  absl::string_view name() const override { return "synthetic"; }
  Law aim() const override { return Law::kSynthetic; }
  absl::string_view kept_for() const override { return "no draft"; }
  bool KeepsLaw(const DraftKind&, const Sampling&) const override { return false; }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    Verdict verdict;
    int node = 0;
    while (true) {
      const Distribution p = target.At(node);
      const std::vector<int> children = tree.Children(node);
      verdict.bonus = children.empty();
      bool accepted = false;
      if (!verdict.bonus) {
        const int child = children[0];
        const std::size_t depth = std::min<std::size_t>(tree.node(node).depth, acceptance_.size() - 1);
        accepted = randoms.Coin(child, acceptance_[depth]);
        verdict.examined.push_back(
            {child, p[tree.node(child).token], DraftProbability(tree, child), accepted});
        if (accepted) verdict.accepted.push_back(node = child);
      }
      if (accepted) continue;
      verdict.next = randoms.Draw(node, Purpose::kBonus, p);
      return verdict;
    }
  }

 private:
  std::vector<double> acceptance_;  // not empty
};

}  // namespace

std::unique_ptr<Verifier> MakeSynthetic(ObjectReader& options) {
  constexpr char kKey[] = "acceptance", kExpected[] = "a list of numbers from 0 to 1 that is not empty";
  std::vector<double> acceptance;
  const Json* array = options.Array(kKey);
  for (const Json& entry : array == nullptr ? Json::array() : *array) {
    const double value = entry.is_number() ? entry.get<double>() : -1;
    if (!(value >= 0 && value <= 1)) options.Fail(kKey, kExpected);
    acceptance.push_back(value);
  }
  if (acceptance.empty()) options.Fail(kKey, kExpected);
  return std::make_unique<Synthetic>(std::move(acceptance));
}

}  // namespace forerun
