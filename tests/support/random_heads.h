// Drafting heads with random weights in the published layouts, each in a folder of its own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/formats/safetensors_file.h"
#include "core/model/model.h"
#include "tests/support/plain_backbone.h"
#include "tests/support/program.h"
#include "tests/support/safetensors_builder.h"

namespace forerun {

// A folder with a head's files, gone with the object.
class HeadFolder {
 public:
  HeadFolder(const SafetensorsBuilder& tensors, const Json& config);
  const std::string& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_{"head"};
};

enum class MedusaLayout { kFirst, kLegacy, kMedusa2, kVllm };
struct RandomMedusaSpec {
  int width = 64;
  int vocab = 320;
  int heads = 3;
  int blocks = 1;  // written; all different
  MedusaLayout layout = MedusaLayout::kFirst;
  int map_stride = 0;  // vLLM: only every so manyth word, by a token_map; 0: all words
  SafetensorsType type = SafetensorsType::kF32;
  uint32_t seed = 1;
};
SafetensorsBuilder RandomMedusa(const RandomMedusaSpec& spec);

struct RandomHydraSpec {
  int width = 64;
  int vocab = 0;  // 0: no output matrices
  int heads = 3;
  int blocks = 1;  // written, the joining one included; all different
  uint32_t seed = 1;
};
SafetensorsBuilder RandomHydra(const RandomHydraSpec& spec);

struct RandomEagleSpec {
  bool eagle3 = true;
  int width = 64;
  int target_width = 64;
  int ffn_width = 96;
  int heads = 4, kv_heads = 2, head_size = 16;
  int vocab = 320;
  int draft_vocab = 96;  // EAGLE-3; vocab: no d2t
  bool own_embedding = false;
  bool fc_bias = false;
  bool state_norms = false, joined_norm = false;  // fc_norm, input_norm
  std::string layer = "midlayer";                 // or layers.0
  SafetensorsType type = SafetensorsType::kF32;
  uint32_t seed = 1;
};
SafetensorsBuilder RandomEagle(const RandomEagleSpec& spec);
Json EagleConfigOf(const RandomEagleSpec& spec);  // without taps: the default ones

// Layers of Qwen3's kind: a DFlash drafter, or one multi-token-prediction layer among the target's tensors.
struct RandomLayersSpec {
  int width = 64;
  int ffn_width = 96;
  int heads = 4, kv_heads = 2, head_size = 16;
  int layers = 2, block_size = 5;          // DFlash
  std::vector<int> layer_ids = {0, 1, 2};  // DFlash: whose outputs it reads
  int mask_token = 3;                      // DFlash
  bool gated = true;                       // multi-token prediction
  uint32_t seed = 1;
};
SafetensorsBuilder RandomMtp(const RandomLayersSpec& spec);
Json MtpConfigOf(const RandomLayersSpec& spec);
SafetensorsBuilder RandomDflash(const RandomLayersSpec& spec);
Json DflashConfigOf(const RandomLayersSpec& spec);

// Heads for the drafter that `options`, a config's "drafter" object, names; a failed test where it is none
// that has heads.
std::unique_ptr<HeadFolder> RandomHeadsFor(absl::string_view options, Model& target);

}  // namespace forerun
