// The tensor table of a GGUF file: read first, placed in the data section afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/formats/gguf_file.h"
#include "core/formats/gguf_reader.h"

namespace forerun {

struct GgufTensorTable {
  std::vector<GgufTensor> tensors;  // in the order of the file
  absl::flat_hash_map<std::string, size_t> index;
};

// Reads `num_tensors` entries and gives every tensor its bytes. The only layout accepted is the one that
// writers make: tensors back to back in the order of the table, each padded to `alignment`; at most padding
// after the last.
absl::StatusOr<GgufTensorTable> ReadTensors(GgufReader& reader, uint64_t num_tensors, uint64_t alignment);

// "tensor 'output.weight'", for messages.
std::string TensorSubject(absl::string_view name);
std::string ShapeText(const std::vector<int64_t>& shape);  // "[896, 151936]"

}  // namespace forerun
