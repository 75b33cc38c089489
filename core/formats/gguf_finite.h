// The opt-in look into the weights of a file.
#pragma once

#include "absl/status/status.h"
#include "core/formats/gguf_file.h"
#include "core/formats/gguf_reader.h"

namespace forerun {

// An error at the first block scale or float weight that is NaN or infinite.
absl::Status CheckTensorFinite(GgufReader& reader, const GgufTensor& tensor);
// True where every block scale (float weight) is zero, and so every weight.
bool IsAllZero(const GgufTensor& tensor);

}  // namespace forerun
