// Typical acceptance (Cai et al. 2024, Medusa): a drafted x may stand where p(x) > min(epsilon, delta
// exp(-H(p))), H in nats: where the target is unsure, unlikely words pass. The paper's epsilon is 0.09 and
// its delta 0.3. Lossy: what is written is typical of the target, not distributed as its samples are.
#include <algorithm>
#include <cmath>

#include "core/verify/bar.h"
#include "core/verify/rules.h"

namespace forerun {
namespace {

double Entropy(const Distribution& p) {
  double entropy = 0;
  for (const double probability : p.probabilities()) entropy -= probability * std::log(probability);
  return entropy;
}

class Typical final : public Verifier {
 public:
  Typical(double epsilon, double delta) : epsilon_(epsilon), delta_(delta) {}
  absl::string_view name() const override { return "typical"; }
  Law aim() const override { return Law::kLossy; }
  absl::string_view kept_for() const override { return "no draft"; }
  bool KeepsLaw(const DraftKind&, const Sampling&) const override { return false; }

  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    return LongestPathOverBar(
        tree, target, randoms, [&target](int node) { return target.At(node); },
        [this](const Distribution& p) {
          return Bar{std::min(epsilon_, delta_ * std::exp(-Entropy(p))), /*inclusive=*/false};
        });
  }

 private:
  double epsilon_, delta_;
};

}  // namespace

std::unique_ptr<Verifier> MakeTypical(ObjectReader& options) {
  const double epsilon = options.Number("epsilon", 0, 0, 1), delta = options.Number("delta", 0, 0, 1);
  return std::make_unique<Typical>(epsilon, delta);
}

}  // namespace forerun
