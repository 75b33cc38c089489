#include "tests/support/random_heads.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
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
  SafetensorsBuilder& builder() { return builder_; }

 private:
  SafetensorsType type_;
  uint32_t seed_;
  SafetensorsBuilder builder_;
};

}  // namespace

std::vector<float> RandomFloats(std::size_t count, double scale, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(scale * (static_cast<int>(random() % 127) - 63) / 32);
  }
  return values;
}

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
  writer.Matrix(layer + "self_attn.q_proj.weight", spec.heads * spec.head_size, input);
  writer.Matrix(layer + "self_attn.k_proj.weight", spec.kv_heads * spec.head_size, input);
  writer.Matrix(layer + "self_attn.v_proj.weight", spec.kv_heads * spec.head_size, input);
  writer.Matrix(layer + "self_attn.o_proj.weight", spec.width, spec.heads * spec.head_size);
  writer.Matrix(layer + "mlp.gate_proj.weight", spec.ffn_width, spec.width);
  writer.Matrix(layer + "mlp.up_proj.weight", spec.ffn_width, spec.width);
  writer.Matrix(layer + "mlp.down_proj.weight", spec.width, spec.ffn_width);
  writer.Gain(layer + "post_attention_layernorm.weight", spec.width);
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
  ADD_FAILURE() << type << ": expected a drafter with random heads here";
  return nullptr;
}

PlainBackbone::PlainBackbone(int vocab, int width, int layers, uint32_t seed)
    : PlainBackbone(RandomFloats(static_cast<std::size_t>(vocab) * width, 1, seed),
                    RandomFloats(static_cast<std::size_t>(vocab) * width, 0.125, seed + 1), width, layers) {}

PlainBackbone::PlainBackbone(std::vector<float> embedding, std::vector<float> head, int width, int layers)
    : embedding_(std::move(embedding)), head_(std::move(head)), width_(width), layers_(layers) {}

void PlainBackbone::Embed(std::span<const TokenId> tokens, float* x) const {
  for (const TokenId token : tokens) x = std::copy_n(embedding_.begin() + token * width_, width_, x);
}

absl::StatusOr<std::vector<RowOutput>> PlainBackbone::HeadOutputs(std::span<const float> hidden,
                                                                  std::span<const ForwardRow> rows) {
  std::vector<RowOutput> outputs(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].wanted == WantedOutput::kNone) continue;
    FORERUN_CHECK(rows[i].wanted == WantedOutput::kFull || rows[i].wanted == WantedOutput::kArgmax);
    std::vector<float> logits;
    for (std::size_t word = 0; word < head_.size() / width_; ++word) {
      double sum = 0;
      for (int k = 0; k < width_; ++k) sum += double{head_[word * width_ + k]} * hidden[i * width_ + k];
      logits.push_back(static_cast<float>(sum));
    }
    outputs[i].argmax = static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    outputs[i].best_logit = logits[outputs[i].argmax];
    if (rows[i].wanted == WantedOutput::kFull) outputs[i].logits = std::move(logits);
  }
  return outputs;
}

}  // namespace forerun
