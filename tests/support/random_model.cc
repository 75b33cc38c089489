#include "tests/support/random_model.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <random>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/model/architecture.h"
#include "kernels/cases/weights.h"

namespace forerun {
namespace {

// Adds the tensors of one model; all numbers come from one stream, in order.
class TensorMaker {
 public:
  TensorMaker(const RandomModelSpec& spec, std::vector<GgufEntry>& tensors)
      : spec_(spec), random_(spec.seed), tensors_(tensors) {}

  void AddAll() {
    Matrix("token_embd.weight", spec_.width, spec_.vocab);
    if (!spec_.tied) Matrix("output.weight", spec_.width, spec_.vocab);
    Vector("output_norm.weight", spec_.width, 1, 0.2f);
    if (spec_.rope_factors) AddRopeFactors();
    for (int layer = 0; layer < spec_.layers; ++layer) AddLayer(absl::StrCat("blk.", layer, "."));
  }

 private:
  void AddLayer(const std::string& prefix) {
    const int q_width = spec_.heads * spec_.head_size;
    const int kv_width = spec_.kv_heads * spec_.head_size;
    Vector(prefix + "attn_norm.weight", spec_.width, 1, 0.2f);
    Vector(prefix + "ffn_norm.weight", spec_.width, 1, 0.2f);
    if (spec_.architecture == "gemma3") {
      Vector(prefix + "post_attention_norm.weight", spec_.width, 1, 0.2f);
      Vector(prefix + "post_ffw_norm.weight", spec_.width, 1, 0.2f);
      Vector(prefix + "attn_q_norm.weight", spec_.head_size, 1, 0.2f);
      Vector(prefix + "attn_k_norm.weight", spec_.head_size, 1, 0.2f);
    }
    if (spec_.architecture == "qwen2") {
      Vector(prefix + "attn_q.bias", q_width, 0, 0.5f);
      Vector(prefix + "attn_k.bias", kv_width, 0, 0.5f);
      Vector(prefix + "attn_v.bias", kv_width, 0, 0.5f);
    }
    Matrix(prefix + "attn_q.weight", spec_.width, q_width);
    Matrix(prefix + "attn_k.weight", spec_.width, kv_width);
    Matrix(prefix + "attn_v.weight", spec_.width, kv_width);
    Matrix(prefix + "attn_output.weight", q_width, spec_.width);
    Matrix(prefix + "ffn_gate.weight", spec_.width, spec_.ffn_width);
    Matrix(prefix + "ffn_up.weight", spec_.width, spec_.ffn_width);
    Matrix(prefix + "ffn_down.weight", spec_.ffn_width, spec_.width);
  }

  void Vector(const std::string& name, int size, float mean, float deviation) {
    std::normal_distribution<float> normal(mean, deviation);
    std::string data;
    for (int i = 0; i < size; ++i) data += Packed(normal(random_));
    Add(name, {static_cast<uint64_t>(size)}, TensorType::kF32, std::move(data));
  }

  // Llama 3 slows the low frequencies: divisors from 1 up.
  void AddRopeFactors() {
    const int pairs = (spec_.rotary == 0 ? spec_.head_size : spec_.rotary) / 2;
    std::string data;
    for (int i = 0; i < pairs; ++i) data += Packed(1 + 7 * static_cast<float>(i) / static_cast<float>(pairs));
    Add("rope_freqs.weight", {static_cast<uint64_t>(pairs)}, TensorType::kF32, std::move(data));
  }

  void Matrix(const std::string& name, int columns, int rows) {
    std::vector<std::byte> data = RandomWeights(spec_.type, rows, columns, /*extreme=*/false, random_);
    if (!IsFloat(spec_.type)) {
      ScaleWeights(spec_.type, 1 / (RootMeanSquare(data, columns) * std::sqrt(columns)), data);
    }
    Add(name, {static_cast<uint64_t>(columns), static_cast<uint64_t>(rows)}, spec_.type,
        std::string(reinterpret_cast<const char*>(data.data()), data.size()));
  }

  float RootMeanSquare(const std::vector<std::byte>& rows, int columns) const {
    const std::size_t row_bytes = RowBytes(spec_.type, columns);
    std::vector<float> weights(columns);
    double sum = 0;
    for (std::size_t at = 0; at < rows.size(); at += row_bytes) {
      DequantizeRow(spec_.type, &rows[at], columns, weights.data());
      for (const float weight : weights) sum += static_cast<double>(weight) * weight;
    }
    return static_cast<float>(std::sqrt(sum / static_cast<double>(rows.size() / row_bytes * columns)));
  }

  void Add(const std::string& name, std::vector<uint64_t> shape, TensorType type, std::string data) {
    tensors_.push_back({.name = name,
                        .shape = std::move(shape),
                        .type = static_cast<uint32_t>(type),
                        .data = std::move(data)});
  }

  const RandomModelSpec& spec_;
  std::mt19937 random_;
  std::vector<GgufEntry>& tensors_;
};

}  // namespace

ModelParts::ModelParts(const RandomModelSpec& spec) : architecture(spec.architecture), tokenizer(SmallBpe()) {
  counts["block_count"] = spec.layers;
  counts["embedding_length"] = spec.width;
  counts["feed_forward_length"] = spec.ffn_width;
  counts["context_length"] = spec.context;
  counts["attention.head_count"] = spec.heads;
  counts["attention.head_count_kv"] = spec.kv_heads;
  counts["attention.key_length"] = spec.head_size;
  counts["attention.value_length"] = spec.head_size;
  if (spec.rotary != 0) counts["rope.dimension_count"] = spec.rotary;
  if (spec.architecture == "gemma3") counts["attention.sliding_window"] = spec.window;
  numbers["attention.layer_norm_rms_epsilon"] = 1e-5f;
  numbers["rope.freq_base"] = 50000;
  if (spec.linear_scaling != 0) {
    texts["rope.scaling.type"] = "linear";
    numbers["rope.scaling.factor"] = spec.linear_scaling;
  }
  for (int id = static_cast<int>(tokenizer.tokens.size()); id < spec.vocab; ++id) {
    tokenizer.Add(absl::StrCat("<unused", id, ">"), kControlType);
  }
  TensorMaker(spec, tensors).AddAll();
}

GgufEntry& ModelParts::Tensor(absl::string_view name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const GgufEntry& entry) { return entry.name == name; });
  FORERUN_CHECK(found != tensors.end());
  return *found;
}

void ModelParts::Remove(absl::string_view tensor) {
  FORERUN_CHECK(std::erase_if(tensors, [&](const GgufEntry& entry) { return entry.name == tensor; }) == 1);
}

std::string ModelParts::Build() const {
  GgufBuilder builder;
  builder.String("general.architecture", architecture);
  for (const auto& [key, value] : counts) builder.U32(absl::StrCat(architecture, ".", key), value);
  for (const auto& [key, value] : numbers) builder.F32(absl::StrCat(architecture, ".", key), value);
  for (const auto& [key, value] : texts) builder.String(absl::StrCat(architecture, ".", key), value);
  AddTokenizer(tokenizer, builder);
  for (const GgufEntry& entry : tensors) builder.Tensor(entry);
  return builder.Build();
}

ModelFile::ModelFile(const ModelParts& parts) {
  static std::atomic<int> count{0};
  path_ = WriteTemporaryFile(absl::StrCat("model-", count++, ".gguf"), parts.Build());
}

ModelFile::~ModelFile() { std::remove(path_.c_str()); }

const std::vector<std::string>& AllArchitectures() {
  static const std::vector<std::string>& names = *new std::vector<std::string>(SupportedArchitectures());
  return names;
}

int EnoughLayers(absl::string_view architecture) { return architecture == "gemma3" ? 6 : 2; }

}  // namespace forerun
