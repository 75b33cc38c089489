#include "tests/support/target_features.h"

#include <numeric>

#include "core/base/check.h"

namespace forerun {

Features FeaturesOf(Model& target, KvPool& pool, std::span<const TokenId> text, std::vector<int> taps,
                    int first) {
  BlockTable table(pool, target.kv_layout_id());
  const int size = static_cast<int>(text.size());
  FORERUN_CHECK(table.Reserve(size).ok());
  ForwardBatch batch;
  for (const TokenId token : text) batch.rows.push_back({.token = token, .tapped = true});
  batch.segments.push_back({&table, 0, size, true});
  batch.taps = taps;
  const absl::StatusOr<ForwardResult> result = target.Forward(batch);
  FORERUN_CHECK(result.ok());
  std::vector<int> rows(size - first);
  std::iota(rows.begin(), rows.end(), first);
  Features features;
  TappedRows(batch, *result, taps, 0).AddTo(features, first, rows);
  return features;
}

}  // namespace forerun
