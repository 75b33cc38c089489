// The weights of one model, packed at load or mapped from the cache of an earlier load. The embedding stays
// in the model's mapped file: its rows are read one by one, so tied embeddings are resident only as the head.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/formats/gguf_file.h"
#include "core/model/architecture.h"
#include "core/model/packed_cache.h"
#include "kernels/matmul/packed_matrix.h"
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
  std::deque<LayerWeights> layers;  // which stay where they are as more come: the count is the file's word
  std::vector<float> output_norm;   // [width]
  LinearWeights head;               // [vocab, width]
  const GgufTensor* embedding = nullptr;  // [vocab, width], in the file
  std::vector<float> rope_factors;        // [rotary / 2] divisors of the frequencies, or empty (Llama 3)
  PackedPayload packed;                   // what all matrices point into
  std::size_t packed_bytes = 0;
  bool from_cache = false;
  std::string note;  // on the cache, for the user: one line or empty
  int64_t parameters = 0;
};

struct PackedCacheOptions {
  bool enabled = false;
  std::size_t least_bytes = std::size_t{32} << 20;  // of packed weights; less is packed in no time
};

// InvalidArgument or NotFound for a tensor that is missing, has another shape or is not one of this model's:
// one line. Pages of the file are let go as they are packed. A cache that cannot be used or written is not an
// error.
absl::StatusOr<ModelWeights> LoadWeights(const GgufFile& file, const ModelConfig& config, ThreadPool& threads,
                                         const PackedCacheOptions& cache = {});

}  // namespace forerun
