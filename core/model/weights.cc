#include "core/model/weights.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/formats/gguf_tensors.h"
#include "core/model/pack_weights.h"

namespace forerun {
namespace {

// Reads the small tensors, and finds the matrices and a place for each.
class WeightReader {
 public:
  WeightReader(const GgufFile& file, const ModelConfig& config, ModelWeights& weights)
      : file_(file), config_(config), weights_(weights) {}

  absl::Status ReadAll() {
    FORERUN_ASSIGN_OR_RETURN(weights_.embedding,
                             Tensor("token_embd.weight", {config_.width, config_.vocab_size}));
    FORERUN_ASSIGN_OR_RETURN(weights_.output_norm, Vector("output_norm.weight", config_.width));
    if (file_.FindTensor("rope_freqs.weight") != nullptr) {
      FORERUN_RETURN_IF_ERROR(LoadRopeFactors());
    }
    for (int layer = 0; layer < config_.layers; ++layer) {
      weights_.layers.emplace_back();
      FORERUN_RETURN_IF_ERROR(LoadLayer(absl::StrCat("blk.", layer, "."), weights_.layers.back()));
    }
    const bool tied = file_.FindTensor("output.weight") == nullptr;
    if (!tied)
      weights_.parameters += int64_t{config_.vocab_size} * config_.width;  // the embedding is its own tensor
    FORERUN_RETURN_IF_ERROR(Matrix(tied ? "token_embd.weight" : "output.weight", config_.width,
                                   config_.vocab_size, weights_.head));
    return CheckAllUsed();
  }

  std::span<const PackedPlace> places() const { return places_; }
  void PointInto(const std::byte* packed) {
    for (std::size_t i = 0; i < places_.size(); ++i) matrices_[i]->data = packed + places_[i].offset;
  }

 private:
  // The tensor, noted as one that the model uses.
  absl::StatusOr<const GgufTensor*> Tensor(const std::string& name, std::vector<int64_t> shape) {
    FORERUN_ASSIGN_OR_RETURN(const GgufTensor* tensor, file_.Tensor(name, std::move(shape)));
    used_.insert(tensor);
    return tensor;
  }

  // A tensor that nothing reads means that the file is another model than it would be run as.
  absl::Status CheckAllUsed() const {
    for (const GgufTensor& tensor : file_.tensors()) {
      if (used_.contains(&tensor)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(file_.path(), ": ", TensorSubject(tensor.name), ": expected only the tensors of ",
                       config_.layers, " layers of ", config_.traits.name, ", found this one as well"));
    }
    return absl::OkStatus();
  }

  absl::Status LoadRopeFactors() {
    constexpr char kName[] = "rope_freqs.weight";
    FORERUN_ASSIGN_OR_RETURN(weights_.rope_factors, Vector(kName, config_.rotary / 2));
    for (const float factor : weights_.rope_factors) {
      if (std::isnormal(factor) && factor > 0) continue;
      return absl::InvalidArgumentError(absl::StrCat(file_.path(), ": ", TensorSubject(kName),
                                                     ": expected positive finite numbers, found ", factor));
    }
    return absl::OkStatus();
  }

  absl::Status LoadLayer(const std::string& prefix, LayerWeights& layer) {
    const int64_t q_width = int64_t{config_.heads} * config_.head_size;
    const int64_t kv_width = int64_t{config_.kv_heads} * config_.head_size;
    FORERUN_ASSIGN_OR_RETURN(layer.attention_norm, Vector(prefix + "attn_norm.weight", config_.width));
    FORERUN_ASSIGN_OR_RETURN(layer.ffn_norm, Vector(prefix + "ffn_norm.weight", config_.width));
    if (config_.traits.post_norms) {
      FORERUN_ASSIGN_OR_RETURN(layer.post_attention_norm,
                               Vector(prefix + "post_attention_norm.weight", config_.width));
      FORERUN_ASSIGN_OR_RETURN(layer.post_ffn_norm, Vector(prefix + "post_ffw_norm.weight", config_.width));
    }
    if (config_.traits.qk_norm) {
      FORERUN_ASSIGN_OR_RETURN(layer.q_norm, Vector(prefix + "attn_q_norm.weight", config_.head_size));
      FORERUN_ASSIGN_OR_RETURN(layer.k_norm, Vector(prefix + "attn_k_norm.weight", config_.head_size));
    }
    if (config_.traits.qkv_bias) {
      FORERUN_ASSIGN_OR_RETURN(layer.q.bias, Vector(prefix + "attn_q.bias", q_width));
      FORERUN_ASSIGN_OR_RETURN(layer.k.bias, Vector(prefix + "attn_k.bias", kv_width));
      FORERUN_ASSIGN_OR_RETURN(layer.v.bias, Vector(prefix + "attn_v.bias", kv_width));
    }
    FORERUN_RETURN_IF_ERROR(Matrix(prefix + "attn_q.weight", config_.width, q_width, layer.q));
    FORERUN_RETURN_IF_ERROR(Matrix(prefix + "attn_k.weight", config_.width, kv_width, layer.k));
    FORERUN_RETURN_IF_ERROR(Matrix(prefix + "attn_v.weight", config_.width, kv_width, layer.v));
    FORERUN_RETURN_IF_ERROR(Matrix(prefix + "attn_output.weight", q_width, config_.width, layer.output));
    FORERUN_RETURN_IF_ERROR(Matrix(prefix + "ffn_gate.weight", config_.width, config_.ffn_width, layer.gate));
    FORERUN_RETURN_IF_ERROR(Matrix(prefix + "ffn_up.weight", config_.width, config_.ffn_width, layer.up));
    return Matrix(prefix + "ffn_down.weight", config_.ffn_width, config_.width, layer.down);
  }

  absl::StatusOr<std::vector<float>> Vector(const std::string& name, int64_t size) {
    FORERUN_ASSIGN_OR_RETURN(const GgufTensor* tensor, Tensor(name, {size}));
    std::vector<float> values(size);
    DequantizeRow(tensor->type, tensor->data.data(), size, values.data());
    weights_.parameters += size;
    return values;
  }

  absl::Status Matrix(const std::string& name, int64_t columns, int64_t outputs, LinearWeights& linear) {
    FORERUN_ASSIGN_OR_RETURN(const GgufTensor* tensor, Tensor(name, {columns, outputs}));
    linear.matrix = {tensor->type, outputs, columns, nullptr};
    places_.push_back({tensor, weights_.packed_bytes});
    matrices_.push_back(&linear.matrix);
    weights_.packed_bytes += PackedBytes(tensor->type, outputs, columns);
    weights_.parameters += outputs * columns;
    return absl::OkStatus();
  }

  const GgufFile& file_;
  const ModelConfig& config_;
  ModelWeights& weights_;
  absl::flat_hash_set<const GgufTensor*> used_;
  std::vector<PackedPlace> places_;
  std::vector<PackedMatrix*> matrices_;  // parallel to places_
};

}  // namespace

absl::StatusOr<ModelWeights> LoadWeights(const GgufFile& file, const ModelConfig& config, ThreadPool& threads,
                                         const PackedCacheOptions& cache) {
  ModelWeights weights;
  WeightReader reader(file, config, weights);
  FORERUN_RETURN_IF_ERROR(reader.ReadAll());
  PackWeights(file, reader.places(), threads, cache, weights);
  reader.PointInto(weights.packed.data);
  FORERUN_RETURN_IF_ERROR(file.CheckUnchanged());
  return weights;
}

}  // namespace forerun
