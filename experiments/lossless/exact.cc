#include "experiments/lossless/exact.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "experiments/lossless/drafts.h"

namespace forerun {
namespace {

constexpr Proposal kD = Proposal::kDeterministic, kS = Proposal::kSampled,
                   kW = Proposal::kSampledWithoutReplacement;

struct Drafting {
  std::string name;
  DraftKind kind;  // what the rule is asked about; for mixed trees each of their proposals is
  std::vector<Proposal> proposals;
};

std::vector<Drafting> Draftings() {
  std::vector<Drafting> all;
  for (const bool chain : {true, false}) {
    for (const Proposal proposal : {kD, kS, kW}) {
      const DraftKind kind = {proposal, chain, /*coupled=*/false};
      all.push_back({Describe(kind), kind, {proposal}});
    }
  }
  const DraftKind coupled = {kS, /*chain=*/true, /*coupled=*/true};
  all.push_back({Describe(coupled), coupled, {kS}});
  all.push_back({"mixed tree", {kD, /*chain=*/false, /*coupled=*/false}, {kW, kD, kS}});
  return all;
}

enum class Tables { kRandom, kZeros, kEqual, kDisjoint };

struct Case {
  const char* name;
  int vocab;
  TreeShape shape;
  int length;  // of the texts; above the tree's depth + 1, so that no round emits all of it
  Tables tables = Tables::kRandom;
};

std::vector<Case> Cases(bool chain) {
  if (chain) {
    return {{"V2 K1", 2, ChainShape(1), 5},
            {"V2 K2", 2, ChainShape(2), 6},
            {"V2 K3", 2, ChainShape(3), 6},
            {"V3 K2", 3, ChainShape(2), 5},
            {"V3 K3", 3, ChainShape(3), 5},
            {"V4 K2", 4, ChainShape(2), 4},
            {"V3 K2 zeros", 3, ChainShape(2), 5, Tables::kZeros},
            {"V4 K1 zeros", 4, ChainShape(1), 4, Tables::kZeros},
            {"V3 K2 q = p", 3, ChainShape(2), 4, Tables::kEqual},
            {"V4 K2 disjoint", 4, ChainShape(2), 4, Tables::kDisjoint}};
  }
  return {{"V2 pair", 2, {0, 0}, 4},
          {"V3 pair", 3, {0, 0}, 4},
          {"V3 triple", 3, {0, 0, 0}, 4},
          {"V4 triple zeros", 4, {0, 0, 0}, 3, Tables::kZeros},
          {"V2 pairs of pairs", 2, {0, 0, 1, 1, 2, 2}, 4},
          {"V3 pair, then one each", 3, {0, 0, 1, 2}, 4},
          {"V3 pair, then one each, zeros", 3, {0, 0, 1, 2}, 4, Tables::kZeros},
          {"V2 lopsided, three deep", 2, {0, 0, 1, 1, 2, 3}, 5},
          {"V3 one, then a pair, q = p", 3, {0, 1, 1}, 4, Tables::kEqual},
          {"V4 pair, disjoint", 4, {0, 0, 2}, 4, Tables::kDisjoint}};
}

void GiveAllMassToTheBest(ContextTable& table) {
  for (int row = 0; row < table.num_rows(); ++row) {
    const std::span<double> values = table.RowAt(row);
    const auto best = std::max_element(values.begin(), values.end());
    for (double& value : values) value = &value == &*best ? 1 : 0;
  }
}

// The lower half of the words, or the upper.
void KeepHalf(ContextTable& table, bool lower) {
  for (int row = 0; row < table.num_rows(); ++row) {
    const std::span<double> values = table.RowAt(row);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((i < values.size() / 2) != lower) values[i] = 0;
    }
  }
}

int DepthOf(const TreeShape& shape) {
  std::vector<int> depths = {0};
  for (const int parent : shape) depths.push_back(depths[parent] + 1);
  return *std::max_element(depths.begin(), depths.end());
}

double BiasOf(const Case& c, const Drafting& drafting, const Verifier& rule, bool greedy, uint64_t seed) {
  const bool zeros = c.tables == Tables::kZeros;
  ContextTable p = ContextTable::Random(c.vocab, c.length, seed, zeros);
  ContextTable q =
      c.tables == Tables::kEqual ? p : ContextTable::Random(c.vocab, c.length, seed + 1000, zeros);
  if (c.tables == Tables::kDisjoint) {
    KeepHalf(p, true);
    KeepHalf(q, false);
  }
  if (greedy) GiveAllMassToTheBest(p);
  return Bias({.target = &p,
               .draft = Shaped(q, c.shape, drafting.proposals),
               .rule = &rule,
               .num_speculative_tokens = DepthOf(c.shape),
               .coupled = drafting.kind.coupled},
              c.length);
}

bool Fits(const Verifier& rule, const Drafting& drafting, const Sampling& sampling) {
  return std::all_of(drafting.proposals.begin(), drafting.proposals.end(), [&](Proposal proposal) {
    DraftKind kind = drafting.kind;
    kind.proposal = proposal;
    return CheckPairing(rule, kind, sampling).ok();
  });
}

ExactRow RowOf(const Verifier& rule, const Drafting& drafting, const Sampling& sampling, int tables) {
  ExactRow row = {.rule = std::string(rule.name()),
                  .draft = drafting.name,
                  .greedy = sampling.greedy(),
                  .law = LawOf(rule, sampling),
                  .worst_bias = 0,
                  .worst_case = "",
                  .cases = 0};
  for (const Case& c : Cases(drafting.kind.chain)) {
    for (int table = 0; table < tables; ++table) {
      const double bias = BiasOf(c, drafting, rule, sampling.greedy(), 11 + table);
      ++row.cases;
      if (row.cases > 1 && bias <= row.worst_bias) continue;
      row.worst_bias = bias;
      row.worst_case = c.name;
    }
  }
  return row;
}

}  // namespace

std::vector<ExactRow> RunExactLaws(const std::string& only, int tables) {
  std::vector<ExactRow> rows;
  for (const RuleInfo& info : ListRules()) {
    if (!only.empty() && only != info.name) continue;
    const absl::StatusOr<std::unique_ptr<Verifier>> rule = MakeRule(info.name);
    FORERUN_CHECK(rule.ok());
    for (const float temperature : {0.0f, 1.0f}) {
      const Sampling sampling = {.temperature = temperature};
      for (const Drafting& drafting : Draftings()) {
        if (Fits(**rule, drafting, sampling)) rows.push_back(RowOf(**rule, drafting, sampling, tables));
      }
    }
  }
  return rows;
}

}  // namespace forerun
