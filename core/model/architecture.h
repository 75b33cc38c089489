// What a model is, as data: a handful of traits per architecture and the numbers of one file. One forward
// pass reads it; there is no copy per architecture.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/formats/gguf_file.h"
#include "kernels/gate/gate.h"
#include "kernels/rope/rope.h"

namespace forerun {

// What distinguishes the families.
struct ArchitectureTraits {
  const char* name;  // general.architecture
  RopePairing pairing;
  Activation activation;
  bool qkv_bias;          // q, k and v projections have biases
  bool qk_norm;           // RMSNorm over each head of q and k
  bool post_norms;        // RMSNorm on what attention and FFN add to the residual stream
  bool scale_embeddings;  // by sqrt(width)
  int global_every;  // 0: every layer is global; n: layers n - 1, 2n - 1, ... are, the others are windowed
  float local_rope_base;  // of windowed layers
};

struct ModelConfig {
  ArchitectureTraits traits;
  int layers = 0;
  int width = 0;
  int ffn_width = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_size = 0;
  int rotary = 0;
  int vocab_size = 0;
  int context_length = 0;
  int window = 0;  // of windowed layers
  float norm_epsilon = 0;
  float rope_base = 0;        // of global layers
  float rope_scale = 1;       // positions are multiplied by it (linear scaling)
  float attention_scale = 0;  // of q . k

  bool is_global(int layer) const {
    return traits.global_every == 0 || (layer + 1) % traits.global_every == 0;
  }
};

// InvalidArgument naming the key, what was expected and what was found.
absl::StatusOr<ModelConfig> ReadModelConfig(const GgufFile& file);

std::vector<std::string> SupportedArchitectures();

}  // namespace forerun
