// Relaxed acceptance (as TensorRT-LLM offers it for the thinking phase of reasoning models): a drafted token
// may stand where it is among the target's `top_k` likeliest (0: off; equals of the last one are in) and has
// at least `ratio` of the best one's probability. Judged before temperature and truncation, so that it also
// relaxes greedy decoding; the next token is chosen as plain sampling chooses. Lossy.
#include <algorithm>
#include <functional>
#include <vector>

#include "core/verify/bar.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

class Relaxed final : public Verifier {
 public:
  Relaxed(int top_k, double ratio) : top_k_(top_k), ratio_(ratio) {}
  absl::string_view name() const override { return "relaxed"; }
  Law aim() const override { return Law::kLossy; }
  absl::string_view kept_for() const override { return "no draft"; }
  bool KeepsLaw(const DraftKind&, const Sampling&) const override { return false; }
  bool reads_unwarped() const override { return true; }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    return LongestPathOverBar(
        tree, target, randoms, [&target](int node) { return target.UnwarpedAt(node); },
        [this](const Distribution& p) { return BarOf(p); });
  }

 private:
  Bar BarOf(const Distribution& p) const {
    std::vector<double> values(p.probabilities().begin(), p.probabilities().end());
    Bar bar{ratio_ * *std::max_element(values.begin(), values.end())};
    if (top_k_ > 0 && top_k_ < static_cast<int>(values.size())) {
      std::nth_element(values.begin(), values.begin() + (top_k_ - 1), values.end(), std::greater<>());
      bar.least = std::max(bar.least, values[top_k_ - 1]);
    }
    return bar;
  }

  int top_k_;
  double ratio_;
};

}  // namespace

std::unique_ptr<Verifier> MakeRelaxed(ObjectReader& options) {
  const int top_k = static_cast<int>(options.Int("top_k", 0, 0, 1 << 20));
  const double ratio = options.Number("ratio", 0, 0, 1);
  if (top_k == 0 && ratio == 0) options.Fail("top_k", "above 0 where ratio is 0, or everything stands");
  return std::make_unique<Relaxed>(top_k, ratio);
}

}  // namespace forerun
