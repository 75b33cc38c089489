// Small model files with random weights: every architecture and tensor type from a bare clone. Activations
// stay near 1 from layer to layer, so that every weight, position and neighbour has a say in the logits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/tokenizer_files.h"

namespace forerun {

struct RandomModelSpec {
  std::string architecture = "llama";
  TensorType type = TensorType::kF32;  // of all matrices; norms and biases are F32
  int layers = 2;
  int width = 256;
  int ffn_width = 512;
  int heads = 4;
  int kv_heads = 2;
  int head_size = 64;
  int rotary = 0;  // 0: no key, which means head_size
  int vocab = 320;
  int context = 512;
  int window = 32;           // gemma3 only
  float linear_scaling = 0;  // 0: no key
  bool tied = true;          // the head is the embedding
  bool rope_factors = false;
  uint32_t seed = 1;
};

// A file in parts, so that a test can spoil one of them. Keys are written without the architecture's prefix.
struct ModelParts {
  explicit ModelParts(const RandomModelSpec& spec);

  std::string architecture;
  std::map<std::string, uint32_t> counts;
  std::map<std::string, float> numbers;
  std::map<std::string, std::string> texts;
  TokenizerSpec tokenizer;
  std::vector<GgufEntry> tensors;

  GgufEntry& Tensor(absl::string_view name);  // must be there
  void Remove(absl::string_view tensor);
  std::string Build() const;
};

// A file of a RandomModelSpec or of parts, gone with the object.
class ModelFile {
 public:
  explicit ModelFile(const RandomModelSpec& spec) : ModelFile(ModelParts(spec)) {}
  explicit ModelFile(const ModelParts& parts);
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  ~ModelFile();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

const std::vector<std::string>& AllArchitectures();
// As many layers as show all kinds that the architecture has: gemma3's sixth is its first global one.
int EnoughLayers(absl::string_view architecture);

}  // namespace forerun
