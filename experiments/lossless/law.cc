#include "experiments/lossless/law.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace forerun {
namespace {

// Places of keys that outlive their round; rounds have places from 1 on, as prompts are not empty.
constexpr uint64_t kNoPlace = 0, kCoupledPlace = ~uint64_t{0};

std::vector<TokenId> Joined(std::span<const TokenId> committed, std::span<const TokenId> path) {
  std::vector<TokenId> all(committed.begin(), committed.end());
  all.insert(all.end(), path.begin(), path.end());
  return all;
}

// What rounds hand on: the committed tokens and what is known of the uniforms that may be used again.
using RoundState = std::pair<std::vector<TokenId>, UniformRanges>;

bool Ended(const Speculation& speculation, const std::vector<TokenId>& tokens) {
  return speculation.end_token && tokens.size() > speculation.prompt.size() &&
         tokens.back() == *speculation.end_token;
}

// Nothing after the end token is emitted.
void CutAtEnd(const Speculation& speculation, std::vector<TokenId>& tokens) {
  if (!speculation.end_token) return;
  const auto end =
      std::find(tokens.begin() + speculation.prompt.size(), tokens.end(), *speculation.end_token);
  if (end != tokens.end()) tokens.erase(end + 1, tokens.end());
}

// Keys that no later round can ask for.
void Forget(std::size_t committed, UniformRanges& ranges) {
  std::erase_if(ranges, [committed](const auto& entry) {
    const auto& [place, node, purpose] = entry.first;
    if (place == kCoupledPlace) return static_cast<std::size_t>(node) < committed;
    return place != kNoPlace;
  });
}

// Drafts below the last committed token, verifies, commits. `end`: how many tokens all rounds shall commit.
void PlayRound(const Speculation& speculation, std::size_t end, Branching& branching, RoundState& state) {
  auto& [committed, ranges] = state;
  const int budget = std::min(speculation.num_speculative_tokens, static_cast<int>(end - committed.size()));
  TokenTree tree(committed.back());
  EnumeratingRandoms draft_randoms(branching, speculation.coupled ? kCoupledPlace : committed.size(), ranges);
  DraftDraws draws(draft_randoms,
                   speculation.coupled ? std::optional<std::size_t>(committed.size()) : std::nullopt);
  speculation.draft(committed, budget, draws, tree);
  EnumeratingRandoms randoms(branching, speculation.keys_without_place ? kNoPlace : committed.size(), ranges);
  const Verdict verdict = speculation.rule->Verify(
      tree, TableRows(*speculation.target, committed, tree, speculation.unwarped), randoms);
  const bool first = committed.size() == speculation.prompt.size();
  if (first && speculation.first_round) speculation.first_round(tree, verdict, branching.probability());
  for (const int node : verdict.accepted) committed.push_back(tree.node(node).token);
  committed.push_back(verdict.next);
  CutAtEnd(speculation, committed);
  Forget(committed.size(), ranges);
}

}  // namespace

std::vector<TokenId> TableRows::Context(int node) const { return Joined(committed_, tree_.PathTokens(node)); }

int64_t TableRows::PositionAfter(int node) const {
  return static_cast<int64_t>(committed_.size()) + tree_.node(node).depth;
}

TokenId DraftDraws::Draw(const TokenTree& tree, int parent, const Distribution& q) {
  const int key = coupled_from_ ? static_cast<int>(*coupled_from_) + tree.node(parent).depth : tree.size();
  return randoms_.Draw(key, Purpose::kDraft, q);
}

TokenLaw EmittedLaw(const Speculation& speculation, int length) {
  TokenLaw law;
  const std::size_t start = speculation.prompt.size(), end = start + length;
  std::map<RoundState, double> states = {{{speculation.prompt, {}}, 1.0}};
  while (!states.empty()) {
    std::map<RoundState, double> next_states;
    for (const auto& entry : states) {
      EnumerateRuns([&](Branching& branching) {
        RoundState after = entry.first;
        PlayRound(speculation, end, branching, after);
        std::vector<TokenId>& tokens = after.first;
        const double mass = entry.second * branching.probability();
        if (tokens.size() < end && !Ended(speculation, tokens)) {
          next_states[after] += mass;
        } else {
          law[{tokens.begin() + start, tokens.begin() + std::min(end, tokens.size())}] += mass;
        }
      });
    }
    states = std::move(next_states);
  }
  return law;
}

TokenLaw PlainLaw(const Speculation& speculation, int length) {
  TokenLaw law = {{{}, 1.0}};
  for (int i = 0; i < length; ++i) {
    TokenLaw longer;
    for (const auto& [tokens, mass] : law) {
      const std::vector<TokenId> context = Joined(speculation.prompt, tokens);
      if (Ended(speculation, context)) {
        longer[tokens] += mass;
        continue;
      }
      const Distribution p = DistributionAt(*speculation.target, context);
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

double Bias(const Speculation& speculation, int length) {
  return TotalVariation(EmittedLaw(speculation, length), PlainLaw(speculation, length));
}

double MeanAccepted(const Speculation& speculation) {
  double mean = 0;
  Speculation counted = speculation;
  counted.first_round = [&mean](const TokenTree&, const Verdict& verdict, double probability) {
    mean += probability * static_cast<double>(verdict.accepted.size());
  };
  EnumerateRuns([&](Branching& branching) {
    RoundState state = {counted.prompt, {}};
    PlayRound(counted, counted.prompt.size() + counted.num_speculative_tokens, branching, state);
  });
  return mean;
}

}  // namespace forerun
