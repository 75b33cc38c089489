#include "core/model/architecture.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"
#include "core/formats/gguf_metadata.h"
#include "core/formats/gguf_tensors.h"

namespace forerun {
namespace {

constexpr ArchitectureTraits kArchitectures[] = {
    {.name = "llama",
     .pairing = RopePairing::kInterleaved,
     .activation = Activation::kSilu,
     .qkv_bias = false,
     .qk_norm = false,
     .post_norms = false,
     .scale_embeddings = false,
     .global_every = 0,
     .local_rope_base = 0},
    {.name = "qwen2",
     .pairing = RopePairing::kHalves,
     .activation = Activation::kSilu,
     .qkv_bias = true,
     .qk_norm = false,
     .post_norms = false,
     .scale_embeddings = false,
     .global_every = 0,
     .local_rope_base = 0},
    {.name = "gemma3",
     .pairing = RopePairing::kHalves,
     .activation = Activation::kGeluTanh,
     .qkv_bias = false,
     .qk_norm = true,
     .post_norms = true,
     .scale_embeddings = true,
     .global_every = 6,
     .local_rope_base = 10000},
};

// Far above any real model; below it no product of two of these numbers overflows 64 bits.
constexpr uint32_t kMostOfAnything = 1u << 24;

class ConfigReader {
 public:
  ConfigReader(const GgufFile& file, absl::string_view architecture)
      : file_(file), prefix_(absl::StrCat(architecture, ".")) {}

  absl::StatusOr<int> Count(absl::string_view key) const {
    FORERUN_ASSIGN_OR_RETURN(const uint32_t value, file_.GetU32(absl::StrCat(prefix_, key)));
    return Checked(key, value);
  }
  absl::StatusOr<int> CountOr(absl::string_view key, uint32_t otherwise) const {
    FORERUN_ASSIGN_OR_RETURN(const uint32_t value, file_.GetU32Or(absl::StrCat(prefix_, key), otherwise));
    return Checked(key, value);
  }
  absl::StatusOr<float> Positive(absl::string_view key,
                                 float otherwise = std::numeric_limits<float>::quiet_NaN()) const {
    const std::string full = absl::StrCat(prefix_, key);
    const bool optional = !std::isnan(otherwise);
    const absl::StatusOr<float> found = optional ? file_.GetF32Or(full, otherwise) : file_.GetF32(full);
    FORERUN_RETURN_IF_ERROR(found.status());
    if (!std::isnormal(*found) || *found < 0) {  // of a subnormal the reciprocal may be infinite
      return Error(key, "a positive finite number", absl::StrCat(*found));
    }
    return *found;
  }
  absl::Status Error(absl::string_view key, absl::string_view expected, absl::string_view found) const {
    return absl::InvalidArgumentError(absl::StrCat(file_.path(), ": ", KeySubject(absl::StrCat(prefix_, key)),
                                                   ": expected ", expected, ", found ", found));
  }

 private:
  absl::StatusOr<int> Checked(absl::string_view key, uint32_t value) const {
    if (value == 0 || value > kMostOfAnything) {
      return Error(key, absl::StrCat("1 to ", kMostOfAnything), absl::StrCat(value));
    }
    return static_cast<int>(value);
  }

  const GgufFile& file_;
  std::string prefix_;
};

absl::StatusOr<const ArchitectureTraits*> FindTraits(const GgufFile& file) {
  FORERUN_ASSIGN_OR_RETURN(const std::string name, file.GetString("general.architecture"));
  for (const ArchitectureTraits& traits : kArchitectures) {
    if (name == traits.name) return &traits;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(file.path(), ": ", KeySubject("general.architecture"), ": expected one of ",
                   absl::StrJoin(SupportedArchitectures(), ", "), ", found ", Quoted(name)));
}

absl::Status ReadHeads(const ConfigReader& reader, ModelConfig& config) {
  FORERUN_ASSIGN_OR_RETURN(config.heads, reader.Count("attention.head_count"));
  FORERUN_ASSIGN_OR_RETURN(config.kv_heads, reader.CountOr("attention.head_count_kv", config.heads));
  if (config.heads % config.kv_heads != 0) {
    return reader.Error("attention.head_count_kv", absl::StrCat("a divisor of head_count ", config.heads),
                        absl::StrCat(config.kv_heads));
  }
  if (config.width % config.heads != 0) {
    FORERUN_RETURN_IF_ERROR(reader.Count("attention.key_length").status());
  }
  FORERUN_ASSIGN_OR_RETURN(config.head_size,
                           reader.CountOr("attention.key_length", std::max(1, config.width / config.heads)));
  FORERUN_ASSIGN_OR_RETURN(const int value_size, reader.CountOr("attention.value_length", config.head_size));
  if (value_size != config.head_size) {
    return reader.Error("attention.value_length", absl::StrCat("key_length ", config.head_size),
                        absl::StrCat(value_size));
  }
  if (config.head_size % 16 != 0 || config.head_size > 1024) {
    return reader.Error("attention.key_length", "a multiple of 16 up to 1024",
                        absl::StrCat(config.head_size));
  }
  config.attention_scale = 1.0f / std::sqrt(static_cast<float>(config.head_size));
  return absl::OkStatus();
}

absl::Status ReadRope(const GgufFile& file, const ConfigReader& reader, ModelConfig& config) {
  FORERUN_ASSIGN_OR_RETURN(config.rotary, reader.CountOr("rope.dimension_count", config.head_size));
  if (config.rotary > config.head_size || config.rotary % 2 != 0) {
    return reader.Error("rope.dimension_count",
                        absl::StrCat("an even number up to the head size ", config.head_size),
                        absl::StrCat(config.rotary));
  }
  FORERUN_ASSIGN_OR_RETURN(config.rope_base, reader.Positive("rope.freq_base", 10000.0f));
  const std::string scaling_key = absl::StrCat(config.traits.name, ".rope.scaling.type");
  if (!file.Has(scaling_key)) return absl::OkStatus();
  FORERUN_ASSIGN_OR_RETURN(const std::string scaling, file.GetString(scaling_key));
  if (scaling == "linear") {
    FORERUN_ASSIGN_OR_RETURN(const float factor, reader.Positive("rope.scaling.factor"));
    config.rope_scale = 1.0f / factor;
  } else if (scaling != "none") {
    return reader.Error("rope.scaling.type", "none or linear", Quoted(scaling));
  }
  return absl::OkStatus();
}

// The embedding says how many words there are.
absl::StatusOr<int> ReadVocabSize(const GgufFile& file, int width) {
  constexpr char kName[] = "token_embd.weight";
  const GgufTensor* embedding = file.FindTensor(kName);
  const std::string expected = absl::StrCat(file.path(), ": ", TensorSubject(kName), ": expected shape [",
                                            width, ", 1 to ", kMostOfAnything, "], found ");
  if (embedding == nullptr) return absl::NotFoundError(absl::StrCat(expected, "no such tensor"));
  if (embedding->shape.size() != 2 || embedding->shape[0] != width || embedding->rows() > kMostOfAnything) {
    return absl::InvalidArgumentError(absl::StrCat(expected, ShapeText(embedding->shape)));
  }
  return static_cast<int>(embedding->rows());
}

}  // namespace

std::vector<std::string> SupportedArchitectures() {
  std::vector<std::string> names;
  for (const ArchitectureTraits& traits : kArchitectures) names.push_back(traits.name);
  return names;
}

absl::StatusOr<ModelConfig> ReadModelConfig(const GgufFile& file) {
  FORERUN_ASSIGN_OR_RETURN(const ArchitectureTraits* traits, FindTraits(file));
  ModelConfig config;
  config.traits = *traits;
  const ConfigReader reader(file, traits->name);
  FORERUN_ASSIGN_OR_RETURN(config.layers, reader.Count("block_count"));
  FORERUN_ASSIGN_OR_RETURN(config.width, reader.Count("embedding_length"));
  FORERUN_ASSIGN_OR_RETURN(config.ffn_width, reader.Count("feed_forward_length"));
  FORERUN_ASSIGN_OR_RETURN(config.context_length, reader.Count("context_length"));
  FORERUN_ASSIGN_OR_RETURN(config.norm_epsilon, reader.Positive("attention.layer_norm_rms_epsilon"));
  FORERUN_RETURN_IF_ERROR(ReadHeads(reader, config));
  FORERUN_RETURN_IF_ERROR(ReadRope(file, reader, config));
  if (traits->global_every != 0) {
    FORERUN_ASSIGN_OR_RETURN(config.window, reader.Count("attention.sliding_window"));
  }
  FORERUN_ASSIGN_OR_RETURN(config.vocab_size, ReadVocabSize(file, config.width));
  return config;
}

}  // namespace forerun
