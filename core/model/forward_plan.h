// A ForwardBatch turned into what kernels want: positions, slots, what each row sees, and tiles of
// neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/model/forward_batch.h"
#include "kernels/attention/attention.h"

namespace forerun {

struct ForwardPlan {
  std::vector<int32_t> positions;       // [rows]
  std::vector<KvSlot> slots;            // [rows] where the row's key and value go
  std::vector<AttentionRow> attention;  // [rows]
  std::vector<AttentionTile> tiles;
  std::vector<KvSlot> tails;         // behind AttentionRow::tail
  std::vector<int32_t> wanted_rows;  // rows with an output, ascending
  int max_position = 0;
};

// InvalidArgument for a token or position out of range, rows that are not covered by exactly one segment, or
// a parent that does not come before its child.
absl::StatusOr<ForwardPlan> PlanForward(const ForwardBatch& batch, int vocab_size, int context_length);

}  // namespace forerun
