#include "experiments/lossless/faulty_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace forerun {
namespace {

double CoinProbability(double ratio, int inclusive_bits) {
  if (inclusive_bits == 0) return std::min(1.0, ratio);
  const double values = std::ldexp(1.0, inclusive_bits);
  return std::min(1.0, (std::floor(std::min(1.0, ratio) * values) + 1) / values);
}

// Walks as core/verify/traversal.cc explains.
struct FaultyWalk {
  const TokenTree& tree;
  const TargetRows& target;
  Randoms& randoms;
  bool divides_by_unsampled;
  Verdict verdict;

  bool Visit(int node, double reach) {
    Distribution rest = target.At(node);
    const std::vector<int> children = tree.Children(node);
    Distribution q = children.empty() ? Distribution() : *tree.q(node);
    for (const int child : children) {
      const TokenId token = tree.node(child).token;
      if (Visit(child, std::min(1.0, reach * rest[token] / q[token]))) {
        verdict.accepted.insert(verdict.accepted.begin(), child);
        return true;
      }
      Residual left = rest.Above(q, reach);
      const double unsampled = 1 - q[token];
      const double sum = left.mass + (1 - reach);
      if (divides_by_unsampled) {
        reach = unsampled > 0 ? std::min(1.0, left.mass / unsampled) : 0;
      } else if (node != 0) {
        reach = sum > 0 ? left.mass / sum : 0;
      }
      if (left.mass > 0) rest = std::move(left.distribution);
      q = q.Without(token);
    }
    if (node != 0 && !randoms.Coin(node, reach)) return false;
    verdict.next = randoms.Draw(node, Purpose::kBonus, rest);
    return true;
  }
};

}  // namespace

Verdict FaultyRejection::Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const {
  Verdict verdict;
  for (int child = 1; child < tree.size(); ++child) {
    const Distribution p = target.At(child - 1), q = *tree.q(child - 1);
    const TokenId token = tree.node(child).token;
    if (!randoms.Coin(child, CoinProbability(p[token] / q[token], inclusive_coin_bits))) {
      const Distribution residual = p.MinusClamped(q);
      const bool from_p = draws_correction_from_p || residual.empty();
      verdict.next = randoms.Draw(child, Purpose::kResidual, from_p ? p : residual);
      return verdict;
    }
    verdict.accepted.push_back(child);
  }
  const int last = tree.size() - 1;
  const Distribution p = unwarped_bonus ? target.UnwarpedAt(last) : target.At(last);
  verdict.next = randoms.Draw(last, Purpose::kBonus, p);
  return verdict;
}

Verdict FaultyBlock::Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const {
  const int last = tree.size() - 1;
  std::vector<double> reach = {1};
  for (int node = 1; node <= last; ++node) {
    const TokenId token = tree.node(node).token;
    reach.push_back(std::min(1.0, reach.back() * target.At(node - 1)[token] / (*tree.q(node - 1))[token]));
  }
  Verdict verdict;
  for (int stands = last; stands >= 0; --stands) {
    const Distribution p = target.At(stands);
    const Residual left = stands == last ? Residual{reach[last], p} : p.Above(*tree.q(stands), reach[stands]);
    const double sum = left.mass + (1 - reach[stands]);
    const double height = stands == last || token_wise ? reach[stands] : sum > 0 ? left.mass / sum : 0;
    if (stands > 0 && !randoms.Coin(stands, height)) continue;
    Distribution rest = left.distribution;
    if (unscaled_residual && stands < last) rest = p.MinusClamped(*tree.q(stands));
    verdict.next = randoms.Draw(stands, Purpose::kResidual, rest.empty() ? p : rest);
    for (int node = 1; node <= stands; ++node) verdict.accepted.push_back(node);
    break;
  }
  return verdict;
}

Verdict FaultyTraversal::Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const {
  FaultyWalk walk = {tree, target, randoms, divides_by_unsampled, {}};
  walk.Visit(0, 1);
  return std::move(walk.verdict);
}

Verdict RedrawnTarget::Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const {
  constexpr int kMostDepth = 64;
  Verdict verdict;
  for (int leaf = 1; leaf < tree.size(); ++leaf) {
    if (!tree.Children(leaf).empty()) continue;
    std::vector<int> path;
    for (int node = leaf; node > 0; node = tree.node(node).parent) path.insert(path.begin(), node);
    std::vector<int> equal;
    for (const int node : path) {
      const int key = leaf * kMostDepth + tree.node(node).depth;
      const TokenId drawn = randoms.Draw(key, Purpose::kAccept, target.At(tree.node(node).parent));
      if (drawn != tree.node(node).token) break;
      equal.push_back(node);
    }
    if (equal.size() > verdict.accepted.size()) verdict.accepted = equal;
  }
  const int node = verdict.accepted.empty() ? 0 : verdict.accepted.back();
  verdict.next = randoms.Draw(node, Purpose::kBonus, target.At(node));
  return verdict;
}

}  // namespace forerun
