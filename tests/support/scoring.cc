#include "tests/support/scoring.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

std::vector<RowOutput> RunBatch(Model& model, const ForwardBatch& batch) {
  absl::StatusOr<ForwardResult> result = model.Forward(batch);
  if (!result.ok()) ADD_FAILURE() << result.status();
  FORERUN_CHECK(result.ok());
  return std::move(result->rows);
}

}  // namespace

std::vector<RowOutput> Feed(Model& model, BlockTable& table, std::span<const TokenId> tokens, int chunk,
                            WantedOutput wanted) {
  std::vector<RowOutput> outputs;
  for (std::size_t first = 0; first < tokens.size(); first += chunk) {
    const int rows = static_cast<int>(std::min<std::size_t>(chunk, tokens.size() - first));
    FORERUN_CHECK(table.Reserve(rows).ok());
    ForwardBatch batch;
    for (int i = 0; i < rows; ++i) {
      const std::size_t next = first + i + 1;
      ForwardRow row{.token = tokens[first + i], .parent = i - 1, .wanted = wanted};
      if (wanted == WantedOutput::kLogProbOf) {
        if (next < tokens.size()) {
          row.target = tokens[next];
        } else {
          row.wanted = WantedOutput::kNone;
        }
      }
      batch.rows.push_back(row);
    }
    batch.segments.push_back({&table, 0, rows, true});
    for (RowOutput& output : RunBatch(model, batch)) outputs.push_back(std::move(output));
    table.CommitAll();
  }
  return outputs;
}

double MeanNll(Model& model, KvPool& pool, std::span<const TokenId> tokens, int chunk) {
  BlockTable table(pool, model.kv_layout_id());
  double sum = 0;
  for (const RowOutput& output : Feed(model, table, tokens, chunk, WantedOutput::kLogProbOf))
    sum -= output.log_prob;
  return tokens.size() > 1 ? sum / (tokens.size() - 1) : 0;
}

std::vector<RowOutput> ForwardTree(Model& model, BlockTable& table, std::span<const TokenId> tokens,
                                   std::span<const int> parents, int written) {
  const int rows = static_cast<int>(tokens.size());
  FORERUN_CHECK(table.Reserve(rows).ok());
  ForwardBatch batch;
  for (int i = written; i < rows; ++i) {
    batch.rows.push_back({.token = tokens[i], .parent = parents[i], .wanted = WantedOutput::kFull});
  }
  batch.segments.push_back({&table, 0, rows - written, false, parents.first(written)});
  return RunBatch(model, batch);
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

}  // namespace forerun
