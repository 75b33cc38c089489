// Every rule at the edges: uniforms of exactly 0 and just below 1, equal siblings, truncated supports, rows
// made from NaN, deep chains. What must hold of every verdict, and proof that a careless coin breaks it.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/rules.h"

namespace forerun {
namespace {

const double kAlmostOne = std::nextafter(1.0, 0.0);

// One uniform for everything.
class OneUniform final : public Randoms {
 public:
  explicit OneUniform(double u, bool inclusive = false) : u_(u), inclusive_(inclusive) {}
  bool Coin(int, double probability) override { return inclusive_ ? u_ <= probability : u_ < probability; }
  TokenId Draw(int, Purpose, const Distribution& p) override { return p.DrawAt(u_); }
  TokenId TargetDraw(int64_t, const Distribution& p) override { return p.DrawAt(u_); }

 private:
  double u_;
  bool inclusive_;
};

// Rows that differ by node.
class RowsByNode final : public TargetRows {
 public:
  explicit RowsByNode(std::vector<Distribution> rows) : rows_(std::move(rows)) {}
  Distribution At(int node) const override { return rows_[node % rows_.size()]; }
  int64_t PositionAfter(int node) const override { return node; }

 private:
  std::vector<Distribution> rows_;
};

// What is wrong with a verdict; empty where nothing is.
std::string Mistake(const TokenTree& tree, const TargetRows& rows, const Verdict& verdict, bool synthetic) {
  int node = 0;
  for (const int child : verdict.accepted) {
    if (child <= 0 || child >= tree.size() || tree.node(child).parent != node)
      return "not a path from the root";
    if (!synthetic && rows.At(node)[tree.node(child).token] == 0) return "accepted what p gives nothing to";
    node = child;
  }
  if (rows.At(node)[verdict.next] == 0) return "emitted what p gives nothing to";
  if (verdict.bonus != tree.Children(node).empty()) return "calls the wrong token a bonus";
  const auto accepted = std::count_if(verdict.examined.begin(), verdict.examined.end(),
                                      [](const Examined& examined) { return examined.accepted; });
  if (accepted != static_cast<std::ptrdiff_t>(verdict.accepted.size())) return "examined and accepted differ";
  for (const Examined& examined : verdict.examined) {
    if (!(examined.p >= 0 && examined.p <= 1 && examined.q > 0 && examined.q <= 1)) return "p or q is none";
  }
  return "";
}

Distribution Row(const std::vector<double>& weights) { return Distribution::FromWeights(weights); }

struct Scene {
  std::string name;
  Proposal proposal;
  TokenTree tree;
  RowsByNode rows;
};

TokenTree Grown(Proposal proposal, const Distribution& q, const std::vector<std::pair<int, TokenId>>& nodes) {
  TokenTree tree(0);
  for (const auto& [parent, token] : nodes) {
    if (proposal != Proposal::kDeterministic && tree.q(parent) == nullptr)
      tree.SetProposal(parent, proposal, q);
    tree.Add(parent, token);
  }
  return tree;
}

std::vector<Scene> Scenes() {
  const Distribution flat = Row({1, 1, 1, 1}), top_two = Row({3, 1}), upper = Row({0, 0, 1, 2});
  const Distribution thirds = Row({1, 1, 1}), spread = Row({5, 0, 2, 1}), one = Distribution::PointMass(0);
  const std::vector<std::pair<int, TokenId>> chain = {{0, 0}, {1, 1}, {2, 0}};
  const std::vector<std::pair<int, TokenId>> pair = {{0, 0}, {0, 1}, {1, 1}, {1, 0}, {2, 1}};
  const std::vector<std::pair<int, TokenId>> equal = {{0, 0}, {0, 0}, {0, 0}, {2, 1}, {2, 1}};
  std::vector<Scene> scenes;
  for (const Proposal proposal :
       {Proposal::kDeterministic, Proposal::kSampled, Proposal::kSampledWithoutReplacement}) {
    const auto add = [&scenes, proposal](const char* name, const Distribution& q,
                                         const std::vector<std::pair<int, TokenId>>& nodes,
                                         std::vector<Distribution> rows) {
      scenes.push_back({absl::StrCat(name, ", ", ProposalName(proposal)), proposal, Grown(proposal, q, nodes),
                        RowsByNode(std::move(rows))});
    };
    for (const auto& [shape, nodes] : {std::pair{"chain", chain}, std::pair{"tree", pair}}) {
      add(absl::StrCat(shape, ", p = q").c_str(), top_two, nodes, {top_two});
      add(absl::StrCat(shape, ", p nowhere q is").c_str(), top_two, nodes, {upper});
      add(absl::StrCat(shape, ", p wider than q").c_str(), top_two, nodes, {flat, spread});
      add(absl::StrCat(shape, ", q wider than p").c_str(), flat, nodes, {top_two, one});
      add(absl::StrCat(shape, ", p a point mass").c_str(), thirds, nodes, {one});
      add(absl::StrCat(shape, ", thirds").c_str(), thirds, nodes, {thirds, flat, spread});
    }
    if (proposal == Proposal::kSampled) add("equal siblings", top_two, equal, {flat, top_two, spread});
    if (proposal == Proposal::kSampled)
      add("q a point mass", one, {{0, 0}, {0, 0}, {1, 0}}, {flat, one, upper});
  }
  return scenes;
}

bool Judges(const Verifier& rule, const Scene& scene) {
  return CheckPairing(rule, {scene.proposal, scene.tree.is_chain(), false}, {.temperature = 0}).ok();
}

TEST(Edges, EveryVerdictIsSound) {
  int judged = 0;
  for (const Scene& scene : Scenes()) {
    for (const RuleInfo& info : ListRules()) {
      const Verifier& rule = Rule(info.name);
      if (!Judges(rule, scene)) continue;
      for (const double u : {0.0, 0x1p-53, 0.25, 0.5, 1 - 0x1p-20, kAlmostOne}) {
        OneUniform randoms(u);
        const Verdict verdict = rule.Verify(scene.tree, scene.rows, randoms);
        EXPECT_EQ(Mistake(scene.tree, scene.rows, verdict, rule.aim() == Law::kSynthetic), "")
            << info.name << ", " << scene.name << ", u " << u;
        ++judged;
      }
    }
  }
  EXPECT_GT(judged, 1000);
}

// u <= p accepts at u = 0 what p gives nothing to.
TEST(Edges, AnInclusiveCoinIsSeen) {
  for (const char* rule : {"rejection", "tree_recursive"}) {
    int mistakes = 0;
    for (const Scene& scene : Scenes()) {
      if (!Judges(Rule(rule), scene)) continue;
      OneUniform randoms(0.0, /*inclusive=*/true);
      mistakes +=
          !Mistake(scene.tree, scene.rows, Rule(rule).Verify(scene.tree, scene.rows, randoms), false).empty();
    }
    EXPECT_GT(mistakes, 0) << rule;
  }
}

// Whatever the coins, the likeliest outcomes are reached: all rejected where supports are disjoint, all
// accepted where p = q.
TEST(Edges, AllRejectedAndAllAccepted) {
  for (const Scene& scene : Scenes()) {
    const bool none = scene.name.find("p nowhere q is") != std::string::npos;
    const bool all = scene.proposal == Proposal::kSampled && scene.name == "chain, p = q, sampled";
    if (!none && !all) continue;
    for (const RuleInfo& info : ListRules()) {
      const Verifier& rule = Rule(info.name);
      const std::string name = info.name;
      if (!Judges(rule, scene) || rule.aim() == Law::kSynthetic) continue;
      if (all && (name == "greedy" || name == "exact_match" || name == "tree_target_only" ||
                  rule.aim() != Law::kExact))
        continue;  // these never read q
      for (const double u : {0.0, 0.5, kAlmostOne}) {
        OneUniform randoms(u);
        const Verdict verdict = rule.Verify(scene.tree, scene.rows, randoms);
        EXPECT_EQ(verdict.accepted.size(), none ? 0u : 3u) << name << ", " << scene.name << ", u " << u;
      }
    }
  }
}

// Rows as the engine makes them: NaN is no candidate, ties go to the lowest id, top-k and top-p cut.
TEST(Edges, RowsFromNanAndTiedLogits) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> logits = {kNan, 2, 2, kNan, 1}, all_nan = {kNan, kNan, kNan, kNan, kNan};
  for (const Sampling& sampling : {Sampling{.temperature = 0}, Sampling{.temperature = 1, .top_k = 1},
                                   Sampling{.temperature = 1, .top_p = 0.5f}, Sampling{.temperature = 1}}) {
    const RowsByNode rows(
        {Distribution::FromLogits(logits, sampling, {}), Distribution::FromLogits(all_nan, sampling, {})});
    const TokenTree tree = Grown(Proposal::kSampled, Row({1, 1, 1}), {{0, 1}, {1, 0}, {2, 2}});
    for (const RuleInfo& info : ListRules()) {
      for (const double u : {0.0, 0.5, kAlmostOne}) {
        OneUniform randoms(u);
        const Verdict verdict = Rule(info.name).Verify(tree, rows, randoms);
        const bool synthetic = Rule(info.name).aim() == Law::kSynthetic;
        EXPECT_EQ(Mistake(tree, rows, verdict, synthetic), "") << info.name << ", u " << u;
      }
    }
  }
}

// 256 tokens, the most that a round drafts: products of ratios stay in range.
TEST(Edges, DeepChains) {
  const Distribution p = Row({1, 1e-9, 3}), q = Row({1e-9, 1, 2});
  std::vector<std::pair<int, TokenId>> nodes;
  for (int node = 0; node < 256; ++node) nodes.emplace_back(node, node % 5 == 4 ? 1 : 2);
  const RowsByNode rows({p});
  const TokenTree tree = Grown(Proposal::kSampled, q, nodes);
  for (const RuleInfo& info : ListRules()) {
    for (const double u : {0.0, 1e-12, 0.5, kAlmostOne}) {
      OneUniform randoms(u);
      const Verdict verdict = Rule(info.name).Verify(tree, rows, randoms);
      EXPECT_EQ(Mistake(tree, rows, verdict, Rule(info.name).aim() == Law::kSynthetic), "") << info.name;
    }
  }
}

}  // namespace
}  // namespace forerun
