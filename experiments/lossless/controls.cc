#include "experiments/lossless/controls.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/base/check.h"
#include "core/verify/registry.h"
#include "experiments/lossless/drafts.h"
#include "experiments/lossless/faulty_rules.h"

namespace forerun {
namespace {

constexpr int kLength = 4;

ContextTable Flattened(ContextTable table) {
  for (int row = 0; row < table.num_rows(); ++row) {
    double sum = 0;
    for (double& value : table.RowAt(row)) sum += value = std::sqrt(value);
    for (double& value : table.RowAt(row)) value /= sum;
  }
  return table;
}

// `draft`, then each of its nodes declared to be drawn from `q_of(node, context)`.
template <typename QOf>
DraftFunction Declared(DraftFunction draft, QOf q_of) {
  return [draft, q_of](std::span<const TokenId> committed, int budget, DraftDraws& draws, TokenTree& tree) {
    draft(committed, budget, draws, tree);
    for (int node = 0; node < tree.size(); ++node) {
      if (tree.Children(node).empty()) continue;
      std::vector<TokenId> context(committed.begin(), committed.end());
      for (const TokenId token : tree.PathTokens(node)) context.push_back(token);
      tree.SetProposal(node, Proposal::kSampled, q_of(context));
    }
  };
}

// Two draws without replacement, handed on with the lower id first and not as they were drawn.
DraftFunction SortedSiblings(const ContextTable& q) {
  return [&q](std::span<const TokenId> committed, int, DraftDraws& draws, TokenTree& tree) {
    TokenTree drawn(committed.back());
    SampledTreeWithoutReplacement(q, 2)(committed, 1, draws, drawn);
    std::vector<TokenId> tokens;
    for (const int child : drawn.Children(0)) tokens.push_back(drawn.node(child).token);
    std::sort(tokens.begin(), tokens.end());
    tree.SetProposal(0, Proposal::kSampledWithoutReplacement, *drawn.q(0));
    for (const TokenId token : tokens) tree.Add(0, token);
  };
}

class Controls {
 public:
  std::vector<Control> Run() {
    Chains();
    Trees();
    Keys();
    return std::move(controls_);
  }

 private:
  void Add(const char* name, const char* mistake, const Verifier& rule, const DraftFunction& draft,
           Speculation more = {}) {
    if (more.target == nullptr) more.target = &p_;
    more.draft = draft;
    more.rule = &rule;
    more.num_speculative_tokens = std::max(more.num_speculative_tokens, 2);
    const std::string words = mistake;
    controls_.push_back({name, words.empty() ? "none" : words, Bias(more, kLength), !words.empty()});
  }

  void Chains() {
    FaultyRejection right, from_p, unwarped, inclusive;
    from_p.draws_correction_from_p = true;
    unwarped.unwarped_bonus = true;
    inclusive.inclusive_coin_bits = 6;
    FaultyBlock block, token_wise, unscaled;
    token_wise.token_wise = token_wise.unscaled_residual = true;
    unscaled.unscaled_residual = true;
    const DraftFunction sampled = SampledChain(q_);
    Add("rejection", "", right, sampled);
    Add("rejection", "correction drawn from p, not from the residual", from_p, sampled);
    Add("rejection", "bonus drawn from the unwarped target (Spec-Bench's EAGLE)", unwarped, sampled,
        {.unwarped = &flattened_});
    Add("rejection", "u <= p / q with coarse u: stands where p is 0", inclusive, sampled,
        {.target = &zeros_});
    Add("block", "", block, sampled);
    Add("block", "token-wise acceptance, unscaled residual (vllm-ascend)", token_wise, sampled);
    Add("block", "unscaled residual", unscaled, sampled);
    Add("rejection", "q of another context", *Rule("rejection"),
        Declared(sampled, [this](const std::vector<TokenId>& context) {
          return DistributionAt(q_, std::vector<TokenId>{1, 1, context.back()});
        }));
    Add("rejection", "best tokens judged as if they had been drawn", *Rule("rejection"),
        Declared(BestChain(q_),
                 [this](const std::vector<TokenId>& context) { return DistributionAt(q_, context); }));
  }

  void Trees() {
    FaultyTraversal right, divides;
    divides.divides_by_unsampled = true;
    const DraftFunction pairs = SampledTreeWithoutReplacement(q_, 2);
    Add("traversal", "", right, pairs);
    Add("traversal", "P := min(1, S / (1 - q(x))) for S / (S + 1 - P)", divides, pairs);
    Add("tree_target_only", "every leaf redraws the target (Medusa, REST)", RedrawnTarget(), BestTree(q_, 2));
    Add("tree_recursive", "draws without replacement judged as independent", *Rule("tree_recursive"),
        Declared(pairs, [this](const std::vector<TokenId>& context) { return DistributionAt(q_, context); }));
    Add("tree_recursive", "siblings sorted, not in the order of their draws", *Rule("tree_recursive"),
        SortedSiblings(q_));
  }

  // Sequoia's code draws its random numbers once for all rounds.
  void Keys() {
    const Speculation leaking = {.keys_without_place = true}, coupled = {.coupled = true};
    constexpr char kLeak[] = "coins of one round used again in the next (Sequoia)";
    Add("rejection", kLeak, *Rule("rejection"), SampledChain(q_), leaking);
    Add("rejection", kLeak, *Rule("rejection"), BestChain(q_), leaking);
    Add("block", kLeak, *Rule("block"), SampledChain(q_), leaking);
    Add("traversal", kLeak, *Rule("traversal"), SampledTree(q_, 2), leaking);
    Add("rejection", "", *Rule("rejection"), SampledChain(q_), coupled);
    constexpr char kCoupled[] = "coupled drafts: a judged position is drafted again with the same noise";
    Add("block", kCoupled, *Rule("block"), SampledChain(q_), coupled);
    Add("traversal", kCoupled, *Rule("traversal"), SampledChain(q_), coupled);
  }

  std::unique_ptr<Verifier> Rule(const char* name) {
    absl::StatusOr<std::unique_ptr<Verifier>> rule = MakeRule(name);
    FORERUN_CHECK(rule.ok());
    return *std::move(rule);
  }

  const ContextTable p_ = ContextTable::Random(3, 3, 35), q_ = ContextTable::Random(3, 3, 432);
  const ContextTable zeros_ = ContextTable::Random(3, 3, 33, true);
  const ContextTable flattened_ = Flattened(p_);
  std::vector<Control> controls_;
};

}  // namespace

std::vector<Control> RunControls() { return Controls().Run(); }

}  // namespace forerun
