// The weights of one model, packed once at load. The embedding stays in the mapped file: its rows are read
// one by one, so tied embeddings are resident only as the head.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/formats/gguf_file.h"
#include "core/model/architecture.h"
#include "kernels/matmul/packed_matrix.h"
#include "kernels/runtime/buffer.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

struct LinearWeights {
  PackedMatrix matrix;
  std::vector<float> bias;  // [outputs] or empty
};

struct LayerWeights {
  std::vector<float> attention_norm, ffn_norm;            // [width]
  std::vector<float> post_attention_norm, post_ffn_norm;  // [width] or empty
  std::vector<float> q_norm, k_norm;                      // [head_size] or empty
  LinearWeights q, k, v, output, gate, up, down;
};

struct ModelWeights {
  std::vector<LayerWeights> layers;
  std::vector<float> output_norm;         // [width]
  LinearWeights head;                     // [vocab, width]
  const GgufTensor* embedding = nullptr;  // [vocab, width], in the file
  std::vector<float> rope_factors;        // [rotary / 2] divisors of the frequencies, or empty (Llama 3)
  std::vector<Buffer> storage;
  std::size_t packed_bytes = 0;
  int64_t parameters = 0;
};

// InvalidArgument or NotFound for a tensor that is missing, has another shape or is not one of this model's:
// one line. Pages of the file are let go as they are packed.
absl::StatusOr<ModelWeights> LoadWeights(const GgufFile& file, const ModelConfig& config,
                                         ThreadPool& threads);

}  // namespace forerun
