#include "core/model/read_tokens.h"

#include <utility>

#include "core/base/status_macros.h"

namespace forerun {

absl::StatusOr<ForwardResult> ReadTokens(Model& model, BlockTable& table, std::span<const TokenId> tokens,
                                         ForwardRow row) {
  const int rows = static_cast<int>(tokens.size());
  FORERUN_RETURN_IF_ERROR(table.Reserve(rows));
  ForwardBatch batch;
  batch.segments.push_back({.table = &table, .num_rows = rows});
  for (const TokenId token : tokens) {
    row.token = token;
    batch.rows.push_back(row);
  }
  FORERUN_ASSIGN_OR_RETURN(ForwardResult result, model.Forward(batch));
  table.CommitAll();
  return result;
}

}  // namespace forerun
