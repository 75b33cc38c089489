// The one layout that weights have in this process: 16 outputs interleaved, so that one vector lane is one
// output and a sum over columns never crosses lanes. See packed_layout.h for the bytes of each type.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/formats/tensor_type.h"

namespace forerun {

inline constexpr int kPackedOutputs = 16;

struct PackedMatrix {
  TensorType type = TensorType::kF32;
  int64_t outputs = 0;              // rows of the GGUF tensor; the last group is padded with zero weights
  int64_t columns = 0;              // the inner dimension K
  const std::byte* data = nullptr;  // [groups][PackedGroupBytes(type, columns)], 64-byte aligned
};

inline int64_t PackedGroups(int64_t outputs) { return (outputs + kPackedOutputs - 1) / kPackedOutputs; }
std::size_t PackedGroupBytes(TensorType type, int64_t columns);  // a multiple of 64
inline std::size_t PackedBytes(TensorType type, int64_t outputs, int64_t columns) {
  return PackedGroups(outputs) * PackedGroupBytes(type, columns);
}

// Packs one group: `rows` points at `num_rows` (1..16) consecutive GGUF rows.
void PackGroup(TensorType type, const void* rows, int num_rows, int64_t columns, std::byte* group);
// The inverse, bit for bit for everything that a file can hold.
void UnpackGroup(TensorType type, const std::byte* group, int num_rows, int64_t columns, void* rows);

}  // namespace forerun
