#include "tests/support/speculation.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forerun {
namespace {

std::vector<TokenId> Joined(std::span<const TokenId> committed, std::span<const TokenId> path) {
  std::vector<TokenId> all(committed.begin(), committed.end());
  all.insert(all.end(), path.begin(), path.end());
  return all;
}

// The `count` most likely tokens, best first.
std::vector<TokenId> BestTokens(Distribution q, int count) {
  std::vector<TokenId> best;
  while (static_cast<int>(best.size()) < count && !q.empty()) {
    best.push_back(q.Argmax());
    q = q.Without(best.back());
  }
  return best;
}

// Grows every node of each level by `add_children(node, q)`.
template <typename AddChildren>
void Grow(const ContextTable& q, std::span<const TokenId> committed, int budget, TokenTree& tree,
          AddChildren add_children) {
  for (int node = 0; node < tree.size() && tree.node(node).depth < budget; ++node) {
    add_children(node, DistributionAt(q, Joined(committed, tree.PathTokens(node))));
  }
}

// What rounds hand on: the committed tokens and what is known of the uniforms that may be used again.
using RoundState = std::pair<std::vector<TokenId>, UniformRanges>;

// Drafts below the last committed token, verifies, commits. `end`: how many tokens all rounds shall commit.
void PlayRound(const Speculation& speculation, std::size_t end, Branching& branching, RoundState& state) {
  auto& [committed, ranges] = state;
  const int budget = std::min(speculation.num_speculative_tokens, static_cast<int>(end - committed.size()));
  TokenTree tree(committed.back());
  speculation.draft(committed, budget, branching, tree);
  const uint64_t place = speculation.keys_without_place ? 0 : committed.size();
  EnumeratingRandoms randoms(branching, place, ranges);
  const Verdict verdict =
      speculation.rule->Verify(tree, TableRows(*speculation.target, committed, tree), randoms);
  const bool first = committed.size() == speculation.prompt.size();
  if (first && speculation.first_round) speculation.first_round(tree, verdict, branching.probability());
  for (const int node : verdict.accepted) committed.push_back(tree.node(node).token);
  committed.push_back(verdict.next);
  if (!speculation.keys_without_place) ranges.clear();  // no later round can ask for them
}

}  // namespace

std::vector<TokenId> TableRows::Context(int node) const { return Joined(committed_, tree_.PathTokens(node)); }

int64_t TableRows::PositionAfter(int node) const {
  return static_cast<int64_t>(committed_.size()) + tree_.node(node).depth;
}

DraftFunction SampledTree(const ContextTable& q, int width) {
  return [&q, width](std::span<const TokenId> committed, int budget, Branching& branching, TokenTree& tree) {
    Grow(q, committed, budget, tree, [&](int node, const Distribution& q_row) {
      tree.SetProposal(node, Proposal::kSampled, q_row);
      for (int i = 0; i < width; ++i) tree.Add(node, q_row.tokens()[branching.Choose(q_row.probabilities())]);
    });
  };
}

DraftFunction SampledChain(const ContextTable& q) { return SampledTree(q, 1); }

DraftFunction SampledTreeWithoutReplacement(const ContextTable& q, int width) {
  return [&q, width](std::span<const TokenId> committed, int budget, Branching& branching, TokenTree& tree) {
    Grow(q, committed, budget, tree, [&](int node, const Distribution& q_row) {
      tree.SetProposal(node, Proposal::kSampledWithoutReplacement, q_row);
      Distribution left = q_row;
      for (int i = 0; i < width && !left.empty(); ++i) {
        const TokenId token = left.tokens()[branching.Choose(left.probabilities())];
        tree.Add(node, token);
        left = left.Without(token);
      }
    });
  };
}

DraftFunction BestTree(const ContextTable& q, int width) {
  return [&q, width](std::span<const TokenId> committed, int budget, Branching&, TokenTree& tree) {
    Grow(q, committed, budget, tree, [&](int node, const Distribution& q_row) {
      for (const TokenId token : BestTokens(q_row, width)) tree.Add(node, token);
    });
  };
}

DraftFunction BestChain(const ContextTable& q) { return BestTree(q, 1); }

TokenLaw EmittedLaw(const Speculation& speculation, int length) {
  TokenLaw law;
  const std::size_t end = speculation.prompt.size() + length;
  std::map<RoundState, double> states = {{{speculation.prompt, {}}, 1.0}};
  while (!states.empty()) {
    std::map<RoundState, double> next_states;
    for (const auto& entry : states) {
      EnumerateRuns([&](Branching& branching) {
        RoundState after = entry.first;
        PlayRound(speculation, end, branching, after);
        std::vector<TokenId>& tokens = after.first;
        const double mass = entry.second * branching.probability();
        if (tokens.size() < end) {
          next_states[after] += mass;
        } else {
          law[{tokens.begin() + speculation.prompt.size(), tokens.begin() + end}] += mass;
        }
      });
    }
    states = std::move(next_states);
  }
  return law;
}

TokenLaw PlainLaw(const ContextTable& target, std::vector<TokenId> prompt, int length) {
  TokenLaw law = {{{}, 1.0}};
  for (int i = 0; i < length; ++i) {
    TokenLaw longer;
    for (const auto& [tokens, mass] : law) {
      const Distribution p = DistributionAt(target, Joined(prompt, tokens));
      for (const TokenId token : p.tokens()) longer[Joined(tokens, std::span(&token, 1))] += mass * p[token];
    }
    law = std::move(longer);
  }
  return law;
}

double TotalVariation(const TokenLaw& a, const TokenLaw& b) {
  double sum = 0;
  for (const auto& [tokens, mass] : a) {
    const auto other = b.find(tokens);
    sum += std::abs(mass - (other == b.end() ? 0 : other->second));
  }
  for (const auto& [tokens, mass] : b) {
    if (!a.contains(tokens)) sum += mass;
  }
  return sum / 2;
}

}  // namespace forerun
