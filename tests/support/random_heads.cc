#include "tests/support/random_heads.h"

#include <cmath>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

// Adds tensors whose products keep the size of what they multiply. Numbers have 7 bits, so that every float
// type stores them exactly.
class TensorWriter {
 public:
  TensorWriter(SafetensorsType type, uint32_t seed) : type_(type), seed_(seed) {}

  void Matrix(const std::string& name, int64_t outputs, int64_t columns) {
    const double scale = std::exp2(std::round(std::log2(1 / std::sqrt(static_cast<double>(columns)))));
    builder_.Floats(name, {outputs, columns}, RandomFloats(outputs * columns, scale, ++seed_), type_);
  }
  void Gain(const std::string& name, int64_t size) {
    std::vector<float> gain = RandomFloats(size, 0.25, ++seed_);
    for (float& x : gain) x = std::round((1 + x) * 64) / 64;
    builder_.Floats(name, {size}, gain, type_);
  }
  void Bias(const std::string& name, int64_t size) {
    builder_.Floats(name, {size}, RandomFloats(size, 0.25, ++seed_), type_);
  }
  // A decoder layer whose attention reads rows of `input`; q is so many times as wide as the heads.
  template <class Spec>
  void Layer(const std::string& prefix, const Spec& spec, int input, int q_parts = 1) {
    Matrix(prefix + "self_attn.q_proj.weight", q_parts * spec.heads * spec.head_size, input);
    Matrix(prefix + "self_attn.k_proj.weight", spec.kv_heads * spec.head_size, input);
    Matrix(prefix + "self_attn.v_proj.weight", spec.kv_heads * spec.head_size, input);
    Matrix(prefix + "self_attn.o_proj.weight", spec.width, spec.heads * spec.head_size);
    Matrix(prefix + "mlp.gate_proj.weight", spec.ffn_width, spec.width);
    Matrix(prefix + "mlp.up_proj.weight", spec.ffn_width, spec.width);
    Matrix(prefix + "mlp.down_proj.weight", spec.width, spec.ffn_width);
    Gain(prefix + "post_attention_layernorm.weight", spec.width);
  }
  SafetensorsBuilder& builder() { return builder_; }

 private:
  SafetensorsType type_;
  uint32_t seed_;
  SafetensorsBuilder builder_;
};

Json LayerConfigOf(const RandomLayersSpec& spec) {
  return {{"hidden_size", spec.width},         {"intermediate_size", spec.ffn_width},
          {"num_attention_heads", spec.heads}, {"num_key_value_heads", spec.kv_heads},
          {"head_dim", spec.head_size},        {"rms_norm_eps", 1e-6}};
}

}  // namespace

HeadFolder::HeadFolder(const SafetensorsBuilder& tensors, const Json& config) {
  std::ofstream(folder_ / "model.safetensors", std::ios::binary) << tensors.Build();
  std::ofstream(folder_ / "config.json") << DumpJson(config);
}

SafetensorsBuilder RandomMedusa(const RandomMedusaSpec& spec) {
  TensorWriter writer(spec.type, spec.seed * 1000);
  const bool vllm = spec.layout == MedusaLayout::kVllm;
  const std::string prefix = spec.layout == MedusaLayout::kMedusa2 ? "medusa_head." : "";
  if (!prefix.empty()) writer.Matrix("model.embed_tokens.weight", spec.vocab, spec.width);
  for (int i = 0; i < spec.heads; ++i) {
    for (int j = 0; j < spec.blocks; ++j) {
      const std::string block =
          vllm ? absl::StrCat("blocks.", i, ".layers.", j) : absl::StrCat(prefix, i, ".", j, ".linear");
      writer.Matrix(block + ".weight", spec.width, spec.width);
      writer.Bias(block + ".bias", spec.width);
    }
    const std::string output =
        vllm ? absl::StrCat("lm_heads.", i, ".weight") : absl::StrCat(prefix, i, ".", spec.blocks, ".weight");
    const int words = spec.map_stride == 0 ? spec.vocab : spec.vocab / spec.map_stride;
    if (spec.layout != MedusaLayout::kLegacy) writer.Matrix(output, words, spec.width);
  }
  if (spec.map_stride != 0) {
    std::vector<int64_t> map;
    for (int word = 0; word < spec.vocab / spec.map_stride; ++word) map.push_back(word * spec.map_stride + 1);
    writer.builder().Integers("token_map", map);
  }
  return writer.builder();
}

SafetensorsBuilder RandomHydra(const RandomHydraSpec& spec) {
  TensorWriter writer(SafetensorsType::kF32, spec.seed * 1000 + 250);
  const auto layer = [&](const std::string& name, int64_t outputs, int64_t columns) {
    writer.Matrix(name + ".weight", outputs, columns);
    writer.Bias(name + ".bias", outputs);
  };
  for (int i = 0; i < spec.heads; ++i) {
    const std::string mlp = absl::StrCat("hydra_mlp.", i, ".");
    layer(mlp + "0.linear", spec.width, spec.width * (i + 2));
    layer(mlp + "0.res_connection", spec.width, spec.width * (i + 2));
    for (int j = 1; j < spec.blocks; ++j) layer(absl::StrCat(mlp, j, ".linear"), spec.width, spec.width);
    if (spec.vocab > 0) layer(absl::StrCat("hydra_lm_head.", i), spec.vocab, spec.width);
  }
  return writer.builder();
}

SafetensorsBuilder RandomEagle(const RandomEagleSpec& spec) {
  TensorWriter writer(spec.type, spec.seed * 1000 + 500);
  const std::string layer = (spec.eagle3 ? spec.layer : "layers.0") + ".";
  const int input = spec.eagle3 ? 2 * spec.width : spec.width;
  if (spec.own_embedding) writer.Matrix("embed_tokens.weight", spec.vocab, spec.width);
  writer.Matrix("fc.weight", spec.width, spec.eagle3 ? 3 * spec.target_width : 2 * spec.width);
  if (spec.fc_bias) writer.Bias("fc.bias", spec.width);
  writer.Layer(layer, spec, input);
  if (!spec.eagle3) return writer.builder();
  writer.Gain(layer + "input_layernorm.weight", spec.width);
  writer.Gain(layer + "hidden_norm.weight", spec.width);
  writer.Gain("norm.weight", spec.width);
  for (int i = 0; spec.state_norms && i < 3; ++i)
    writer.Gain(absl::StrCat("fc_norm.", i, ".weight"), spec.target_width);
  if (spec.joined_norm) writer.Gain("input_norm.weight", 3 * spec.target_width);
  writer.Matrix("lm_head.weight", spec.draft_vocab, spec.width);
  if (spec.draft_vocab == spec.vocab) return writer.builder();
  std::vector<int64_t> offsets;
  std::string has_word(spec.vocab, '\0');
  for (int word = 0; word < spec.draft_vocab; ++word) {
    offsets.push_back(word * (spec.vocab / spec.draft_vocab - 1) + word % 2);
    has_word[word + offsets.back()] = '\1';
  }
  writer.builder().Integers("d2t", offsets);
  writer.builder().Tensor("t2d", SafetensorsType::kBool, {spec.vocab}, has_word);
  return writer.builder();
}

Json EagleConfigOf(const RandomEagleSpec& spec) {
  Json config = {{"hidden_size", spec.width},         {"intermediate_size", spec.ffn_width},
                 {"num_attention_heads", spec.heads}, {"num_key_value_heads", spec.kv_heads},
                 {"head_dim", spec.head_size},        {"rms_norm_eps", 1e-5},
                 {"vocab_size", spec.vocab},          {"hidden_act", "silu"}};
  if (spec.eagle3) config["draft_vocab_size"] = spec.draft_vocab;
  return config;
}

SafetensorsBuilder RandomMtp(const RandomLayersSpec& spec) {
  TensorWriter writer(SafetensorsType::kF32, spec.seed * 1000 + 700);
  const std::string layer = "mtp.layers.0.";
  writer.Matrix("model.embed_tokens.weight", 8, spec.width);
  writer.Matrix("mtp.fc.weight", spec.width, 2 * spec.width);
  writer.Layer(layer, spec, spec.width, spec.gated ? 2 : 1);
  for (const char* norm : {"self_attn.q_norm", "self_attn.k_norm"}) {
    writer.Bias(absl::StrCat(layer, norm, ".weight"), spec.head_size);
  }
  writer.Bias(layer + "input_layernorm.weight", spec.width);
  for (const char* norm : {"pre_fc_norm_embedding", "pre_fc_norm_hidden", "norm"}) {
    writer.Bias(absl::StrCat("mtp.", norm, ".weight"), spec.width);
  }
  return writer.builder();
}

Json MtpConfigOf(const RandomLayersSpec& spec) {
  Json config = LayerConfigOf(spec);
  config["model_type"] = "qwen3_next";
  config["attn_output_gate"] = spec.gated;
  return config;
}

SafetensorsBuilder RandomDflash(const RandomLayersSpec& spec) {
  TensorWriter writer(SafetensorsType::kF32, spec.seed * 1000 + 800);
  writer.Matrix("fc.weight", spec.width, static_cast<int64_t>(spec.layer_ids.size()) * spec.width);
  writer.Gain("hidden_norm.weight", spec.width);
  writer.Gain("norm.weight", spec.width);
  for (int i = 0; i < spec.layers; ++i) {
    const std::string layer = absl::StrCat("layers.", i, ".");
    writer.Layer(layer, spec, spec.width);
    writer.Gain(layer + "self_attn.q_norm.weight", spec.head_size);
    writer.Gain(layer + "self_attn.k_norm.weight", spec.head_size);
    writer.Gain(layer + "input_layernorm.weight", spec.width);
  }
  return writer.builder();
}

Json DflashConfigOf(const RandomLayersSpec& spec) {
  Json config = LayerConfigOf(spec);
  config["num_hidden_layers"] = spec.layers;
  config["block_size"] = spec.block_size;
  config["dflash_config"] = {{"mask_token_id", spec.mask_token}, {"target_layer_ids", spec.layer_ids}};
  return config;
}

std::unique_ptr<HeadFolder> RandomHeadsFor(absl::string_view options, Model& target) {
  const std::string type = ParseJson(options, "options")->value("type", "");
  const int width = target.backbone()->width(), vocab = target.vocab_size();
  if (type == "medusa") {
    return std::make_unique<HeadFolder>(
        RandomMedusa({.width = width, .vocab = vocab, .layout = MedusaLayout::kLegacy}), Json::object());
  }
  if (type == "hydra") return std::make_unique<HeadFolder>(RandomHydra({.width = width}), Json::object());
  if (type == "eagle") {
    const RandomEagleSpec spec{
        .width = width, .target_width = width, .head_size = 32, .vocab = vocab, .draft_vocab = vocab / 8};
    return std::make_unique<HeadFolder>(RandomEagle(spec), EagleConfigOf(spec));
  }
  const RandomLayersSpec layers{.width = width, .head_size = 32};
  if (type == "mtp") return std::make_unique<HeadFolder>(RandomMtp(layers), MtpConfigOf(layers));
  if (type == "dflash") return std::make_unique<HeadFolder>(RandomDflash(layers), DflashConfigOf(layers));
  ADD_FAILURE() << type << ": expected a drafter with random heads here";
  return nullptr;
}

}  // namespace forerun
