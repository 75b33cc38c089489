#include "tests/support/forward_bits.h"

#include <algorithm>
#include <random>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "tests/support/scoring.h"

namespace forerun {
namespace {

std::vector<RowOutput> Run(Model& model, const ForwardBatch& batch) {
  absl::StatusOr<ForwardResult> result = model.Forward(batch);
  FORERUN_CHECK(result.ok());
  return std::move(result->rows);
}

std::string Difference(absl::string_view what, int row, const std::vector<float>& found,
                       const std::vector<float>& expected) {
  if (SameBits(found, expected)) return "";
  std::size_t at = 0;
  while (at < found.size() && at < expected.size() && found[at] == expected[at]) ++at;
  return absl::StrCat(what, ": row ", row, " differs from the row alone, first at logit ", at);
}

// Appends a causal segment asking for every row's logits.
void AddChain(ForwardBatch& batch, BlockTable& table, std::span<const TokenId> tokens) {
  FORERUN_CHECK(table.Reserve(static_cast<int>(tokens.size())).ok());
  batch.segments.push_back(
      {&table, static_cast<int32_t>(batch.rows.size()), static_cast<int32_t>(tokens.size()), true});
  for (const TokenId token : tokens) batch.rows.push_back({.token = token, .wanted = WantedOutput::kFull});
}

struct RandomTree {
  std::vector<TokenId> tokens;
  std::vector<int> parents;

  std::vector<int> Path(int node) const {
    std::vector<int> path;
    for (; node >= 0; node = parents[node]) path.push_back(node);
    std::reverse(path.begin(), path.end());
    return path;
  }
};

// Parents are drawn among all earlier nodes, so depth-first and breadth-first orders both occur.
RandomTree MakeTree(int nodes, TokenId root, int vocab_size, std::mt19937_64& rng) {
  RandomTree tree{{root}, {-1}};
  for (int i = 1; i < nodes; ++i) {
    tree.tokens.push_back(static_cast<TokenId>(rng() % vocab_size));
    tree.parents.push_back(static_cast<int>(rng() % i));
  }
  return tree;
}

std::vector<TokenId> TokensAt(const RandomTree& tree, const std::vector<int>& nodes) {
  std::vector<TokenId> tokens;
  for (const int node : nodes) tokens.push_back(tree.tokens[node]);
  return tokens;
}

// The same tree again, a few rows a forward; its rows stay reserved.
std::string CompareTreeInParts(Model& model, BlockTable& table, const RandomTree& tree,
                               const std::vector<RowOutput>& whole, std::mt19937_64& rng) {
  table.Rollback();
  const int nodes = static_cast<int>(tree.tokens.size());
  for (int written = 0; written < nodes;) {
    const int end = std::min<int>(nodes, written + 1 + static_cast<int>(rng() % 5));
    const std::vector<RowOutput> part = ForwardTree(model, table, std::span(tree.tokens).first(end),
                                                    std::span(tree.parents).first(end), written);
    for (int node = written; node < end; ++node) {
      const std::string difference = Difference(absl::StrCat("tree of ", nodes, " in parts"), node,
                                                part[node - written].logits, whole[node].logits);
      if (!difference.empty()) return difference;
    }
    written = end;
  }
  return "";
}

}  // namespace

std::vector<std::vector<float>> LogitsOneByOne(Model& model, KvPool& pool, std::span<const TokenId> tokens) {
  BlockTable table(pool, model.kv_layout_id());
  std::vector<std::vector<float>> logits;
  for (RowOutput& output : Feed(model, table, tokens, 1, WantedOutput::kFull))
    logits.push_back(std::move(output.logits));
  return logits;
}

std::string CompareChunks(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                          const std::vector<std::vector<float>>& alone, int chunk) {
  BlockTable table(pool, model.kv_layout_id());
  const std::vector<RowOutput> outputs = Feed(model, table, tokens, chunk, WantedOutput::kFull);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string difference =
        Difference(absl::StrCat("chunks of ", chunk), i, outputs[i].logits, alone[i]);
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string CompareWidths(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                          const std::vector<std::vector<float>>& alone, int context, int most_rows) {
  BlockTable table(pool, model.kv_layout_id());
  Feed(model, table, tokens.first(context), 512, WantedOutput::kNone);
  for (int rows = 1; rows <= most_rows; ++rows) {
    ForwardBatch batch;
    AddChain(batch, table, tokens.subspan(context, rows));
    const std::vector<RowOutput> outputs = Run(model, batch);
    for (int i = 0; i < rows; ++i) {
      const std::string difference =
          Difference(absl::StrCat("width ", rows), i, outputs[i].logits, alone[context + i]);
      if (!difference.empty()) return difference;
    }
    table.Rollback();
  }
  return "";
}

std::string CompareRandomTree(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                              const std::vector<std::vector<float>>& alone, int context, int nodes,
                              uint64_t seed) {
  std::mt19937_64 rng(seed);
  BlockTable table(pool, model.kv_layout_id());
  Feed(model, table, tokens.first(context), 512, WantedOutput::kNone);
  const RandomTree tree = MakeTree(nodes, tokens[context], model.vocab_size(), rng);
  const std::vector<RowOutput> outputs = ForwardTree(model, table, tree.tokens, tree.parents);
  std::string difference = Difference("tree root", 0, outputs[0].logits, alone[context]);
  for (int node = 1; node < nodes && difference.empty(); ++node) {
    BlockTable lone = table.Fork();
    const std::vector<TokenId> path = TokensAt(tree, tree.Path(node));
    const std::vector<RowOutput> expected = Feed(model, lone, path, 1, WantedOutput::kFull);
    difference = Difference(absl::StrCat("tree of ", nodes, ", seed ", seed), node, outputs[node].logits,
                            expected.back().logits);
  }
  if (difference.empty()) difference = CompareTreeInParts(model, table, tree, outputs, rng);
  if (!difference.empty()) return difference;

  const std::vector<int> kept = tree.Path(static_cast<int>(rng() % nodes));
  BlockTable lone = table.Fork();
  Feed(model, lone, TokensAt(tree, kept), 1, WantedOutput::kNone);
  table.Commit(kept);
  const TokenId next[] = {tokens[context + 1], tokens[context + 2]};
  const std::vector<RowOutput> expected = Feed(model, lone, next, 1, WantedOutput::kFull);
  const std::vector<RowOutput> found = Feed(model, table, next, 2, WantedOutput::kFull);
  difference = Difference("after the accepted path", 0, found[0].logits, expected[0].logits);
  return difference.empty() ? Difference("after the accepted path", 1, found[1].logits, expected[1].logits)
                            : difference;
}

std::string CompareMixedBatch(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                              const std::vector<std::vector<float>>& alone) {
  const int contexts[] = {0, 3, 17, 40};
  const int rows[] = {33, 1, 5, 4};
  std::vector<BlockTable> tables;
  for (const int context : contexts) {
    tables.emplace_back(pool, model.kv_layout_id());
    Feed(model, tables.back(), tokens.first(context), 512, WantedOutput::kNone);
  }
  ForwardBatch batch;
  for (int s = 0; s < 4; ++s) AddChain(batch, tables[s], tokens.subspan(contexts[s], rows[s]));
  ForwardSegment& tree =
      batch.segments.back();  // the last one as a tree that happens to be a chain with a side branch
  tree.causal = false;
  for (int i = 0; i < tree.num_rows; ++i) batch.rows[tree.first_row + i].parent = i - 1;
  batch.rows[tree.first_row + 3].parent = 1;  // a sibling of row 2
  batch.rows[tree.first_row + 3].token = tokens[contexts[3] + 2];
  const std::vector<RowOutput> outputs = Run(model, batch);
  for (int s = 0; s < 4; ++s) {
    for (int i = 0; i < rows[s]; ++i) {
      const int position = contexts[s] + (s == 3 && i == 3 ? 2 : i);
      const std::string difference =
          Difference(absl::StrCat("mixed batch, sequence ", s), i,
                     outputs[batch.segments[s].first_row + i].logits, alone[position]);
      if (!difference.empty()) return difference;
    }
  }
  return "";
}

std::string CompareAfterRejections(Model& model, KvPool& pool, std::span<const TokenId> tokens,
                                   const std::vector<std::vector<float>>& alone, int rejected,
                                   void (*rollback)(BlockTable& table, int kept)) {
  BlockTable table(pool, model.kv_layout_id());
  for (std::size_t i = 0; i + rejected < tokens.size(); ++i) {
    std::vector<TokenId> draft{tokens[i]};
    for (int r = 0; r < rejected; ++r) draft.push_back((tokens[i + 1 + r] + 1) % model.vocab_size());
    ForwardBatch batch;
    AddChain(batch, table, draft);
    const std::vector<RowOutput> outputs = Run(model, batch);
    rollback(table, 1);
    const std::string difference =
        Difference(absl::StrCat("after ", rejected, " rejected rows"), i, outputs[0].logits, alone[i]);
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace forerun
