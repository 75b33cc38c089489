#include "drafters/models/layer_search.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr int kLeastTokens = 4;  // on fewer, agreement says nothing

// Half 2 l is layer l's attention, half 2 l + 1 its feed-forward.
std::vector<bool>::reference Half(LayerSubset& subset, int half) {
  return half % 2 == 0 ? subset.attention[half / 2] : subset.feed_forward[half / 2];
}

// The best word after each of the `count` last tokens of the prompt.
absl::StatusOr<std::vector<TokenId>> BestWords(Model& target, const DraftTask& task, int count,
                                               const LayerSubset* layers) {
  BlockTable table = task.target_table->Fork();
  table.TruncateTo(task.prompt_length - count);
  FORERUN_RETURN_IF_ERROR(table.Reserve(count));
  ForwardBatch batch;
  batch.layers = layers;
  batch.segments.push_back({&table, 0, count, true});
  for (const TokenId token : task.committed.subspan(task.prompt_length - count, count))
    batch.rows.push_back({.token = token, .wanted = WantedOutput::kArgmax});
  FORERUN_ASSIGN_OR_RETURN(const ForwardResult result, target.Forward(batch));
  std::vector<TokenId> words;
  for (const RowOutput& row : result.rows) words.push_back(row.argmax);
  return words;
}

int Agreements(std::span<const TokenId> a, std::span<const TokenId> b) {
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] == b[i];
  return count;
}

}  // namespace

LayerSubset EvenlySpaced(int layers, double share) {
  LayerSubset subset = LayerSubset::All(layers);
  const int halves = std::max(0, 2 * (layers - 2));
  const int skipped = static_cast<int>(std::lround(share * halves));
  for (int i = 0; i < skipped; ++i) {
    const int at = static_cast<int>((i + 0.5) * halves / skipped);
    Half(subset, 2 + at) = false;
  }
  return subset;
}

absl::StatusOr<LayerSubset> SearchLayers(Model& target, const DraftTask& task, LayerSubset start,
                                         const LayerSearchOptions& options) {
  const int count = std::min(options.tokens, task.prompt_length - 1);
  std::vector<int> kept, skipped;
  for (int half = 2; half < 2 * (target.num_layers() - 1); ++half)
    (Half(start, half) ? kept : skipped).push_back(half);
  if (options.candidates == 0 || count < kLeastTokens || kept.empty() || skipped.empty()) return start;

  FORERUN_ASSIGN_OR_RETURN(const std::vector<TokenId> truth, BestWords(target, task, count, nullptr));
  FORERUN_ASSIGN_OR_RETURN(std::vector<TokenId> words, BestWords(target, task, count, &start));
  int best = Agreements(words, truth);
  const RandomStream random({.seed = task.sampling->seed,
                             .request = task.request,
                             .place = static_cast<uint64_t>(task.prompt_length),
                             .node = 0,
                             .purpose = Purpose::kOther});
  for (int i = 0; i < options.candidates && best < count; ++i) {
    int& leaves = kept[random.Bits(2 * i) % kept.size()];
    int& returns = skipped[random.Bits(2 * i + 1) % skipped.size()];
    LayerSubset candidate = start;
    Half(candidate, leaves) = false;
    Half(candidate, returns) = true;
    FORERUN_ASSIGN_OR_RETURN(words, BestWords(target, task, count, &candidate));
    const int agreements = Agreements(words, truth);
    if (agreements < best) continue;
    best = agreements;
    start = std::move(candidate);
    std::swap(leaves, returns);
  }
  return start;
}

}  // namespace forerun
