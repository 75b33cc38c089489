#include "drafters/heads/mtp_head.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "drafters/heads/head_config.h"

namespace forerun {
namespace {

// Of 2 * groups groups of `size` rows every other one, the first of which is group `part`.
HeadMatrix EveryOther(const HeadRows& rows, int groups, int size, int part) {
  const std::size_t bytes = size * RowBytes(rows.type, rows.columns);
  std::vector<std::byte> data;
  for (int group = 0; group < groups; ++group) {
    const std::byte* const first = rows.data + (2 * group + part) * bytes;
    data.insert(data.end(), first, first + bytes);
  }
  return PackHeadMatrix(rows.type, data, int64_t{groups} * size, rows.columns);
}

}  // namespace

class MtpHead::Loader {
 public:
  Loader(HeadFiles& files, MtpHead& head) : files_(files), head_(head) {}

  absl::Status Load(KvDtype dtype) {
    FORERUN_RETURN_IF_ERROR(ReadConfig());
    FORERUN_RETURN_IF_ERROR(RefuseExperts());
    const int64_t width = shape_.width;
    FORERUN_ASSIGN_OR_RETURN(head_.fc_, files_.Matrix("mtp.fc.weight", width, 2 * width));
    FORERUN_ASSIGN_OR_RETURN(head_.embedding_norm_, Gain("mtp.pre_fc_norm_embedding.weight", width));
    FORERUN_ASSIGN_OR_RETURN(head_.hidden_norm_, Gain("mtp.pre_fc_norm_hidden.weight", width));
    FORERUN_ASSIGN_OR_RETURN(head_.output_norm_, Gain("mtp.norm.weight", width));
    FORERUN_ASSIGN_OR_RETURN(head_.input_norm_, Gain("mtp.layers.0.input_layernorm.weight", width));
    FORERUN_RETURN_IF_ERROR(LoadLayer(dtype));
    for (const std::string& name : files_.Names()) {
      if (!absl::StartsWith(name, "mtp.")) files_.Ignore(name);  // the target's
    }
    return files_.CheckAllUsed("one multi-token-prediction layer");
  }

 private:
  absl::Status ReadConfig() {
    const std::string where = files_.path() + "/config.json";
    const Json& config = files_.config();
    const ConfigReader outer(config, where);
    const bool nested = outer.Find("text_config") != nullptr;
    ConfigReader reader(outer.ObjectOr("text_config", config), nested ? where + ".text_config" : where);
    const Json* type = reader.Find("model_type");
    const auto known = {"qwen3_next", "qwen3_5", "qwen3_5_text"};
    const bool is_known = type != nullptr && std::any_of(known.begin(), known.end(),
                                                         [&](const char* name) { return *type == name; });
    if (!is_known) reader.Fail("model_type", "qwen3_next, qwen3_5 or qwen3_5_text", type);
    reader.Expect("mtp_num_hidden_layers", 1);
    reader.Expect("mtp_use_dedicated_embeddings", false);
    gated_ = reader.Bool("attn_output_gate", true);
    shape_ = ReadLayerShape(reader);
    const Json none = Json::object();
    ConfigReader rope(reader.ObjectOr("rope_parameters", none), "");
    const double share = reader.Number("partial_rotary_factor", rope.Number("partial_rotary_factor", 0.25));
    if (!rope.status().ok()) reader.Fail("rope_parameters", "a partial_rotary_factor above 0", nullptr);
    shape_.rotary = static_cast<int>(std::lround(std::min(share, 2.0) * shape_.head_size));
    if (shape_.rotary % 2 != 0 || shape_.rotary < 2 || shape_.rotary > shape_.head_size) {
      reader.Fail("partial_rotary_factor", "an even part of head_dim", reader.Find("partial_rotary_factor"));
    }
    if (shape_.width != head_.width()) {
      reader.Fail("hidden_size", absl::StrCat("the target's ", head_.width()), reader.Find("hidden_size"));
    }
    return reader.status();
  }

  absl::Status RefuseExperts() const {
    for (const std::string& name : files_.Names()) {
      if (!absl::StartsWith(name, "mtp.layers.0.mlp.") || !absl::StrContains(name, "expert")) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          files_.path(), ": expected a dense layer, found tensor '", name, "' of a mixture of experts"));
    }
    return absl::OkStatus();
  }

  absl::Status LoadLayer(KvDtype dtype) {
    const std::string prefix = "mtp.layers.0.", q = prefix + "self_attn.q_proj.weight";
    FORERUN_ASSIGN_OR_RETURN(DraftLayerWeights weights, LoadDraftLayer(files_, prefix, shape_, !gated_));
    if (gated_) {
      const int64_t rows = int64_t{2} * shape_.heads * shape_.head_size;
      FORERUN_ASSIGN_OR_RETURN(const HeadRows both, files_.Rows(q, rows, shape_.width));
      weights.q = EveryOther(both, shape_.heads, shape_.head_size, 0);
      weights.output_gate = EveryOther(both, shape_.heads, shape_.head_size, 1);
    }
    FORERUN_ASSIGN_OR_RETURN(weights.q_norm, Gain(prefix + "self_attn.q_norm.weight", shape_.head_size));
    FORERUN_ASSIGN_OR_RETURN(weights.k_norm, Gain(prefix + "self_attn.k_norm.weight", shape_.head_size));
    for (float& gain : weights.ffn_norm) gain += 1;
    head_.layer_ = std::make_unique<DraftLayer>(shape_, std::move(weights), dtype);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<float>> Gain(const std::string& name, int64_t size) {
    FORERUN_ASSIGN_OR_RETURN(std::vector<float> gain, files_.Vector(name, size));
    for (float& x : gain) x += 1;
    return gain;
  }

  HeadFiles& files_;
  MtpHead& head_;
  DraftLayerShape shape_;
  bool gated_ = true;
};

absl::StatusOr<std::unique_ptr<MtpHead>> MtpHead::Load(HeadFiles& files, Backbone& backbone, int target_vocab,
                                                       KvDtype dtype) {
  std::unique_ptr<MtpHead> head(new MtpHead(backbone, target_vocab));
  FORERUN_RETURN_IF_ERROR(Loader(files, *head).Load(dtype));
  return head;
}

absl::StatusOr<RecurrentHead::Result> MtpHead::Forward(const ForwardBatch& batch,
                                                       std::span<const float> features, int context_length) {
  FORERUN_ASSIGN_OR_RETURN(const ForwardPlan plan, PlanForward(batch, target_vocab_, context_length));
  const int64_t rows = static_cast<int64_t>(batch.rows.size());
  FORERUN_CHECK(std::ssize(features) == rows * width());
  const float epsilon = layer_->shape().norm_epsilon;
  std::vector<TokenId> tokens;
  for (const ForwardRow& row : batch.rows) tokens.push_back(row.token);
  std::vector<float> embedded(rows * width()), hidden(rows * width()), stream(rows * width());
  backbone_->Embed(tokens, embedded.data());
  math_.Normalize(embedded.data(), embedding_norm_, epsilon, rows, embedded.data());
  math_.Normalize(features.data(), hidden_norm_, epsilon, rows, hidden.data());
  math_.Multiply(fc_, Beside(embedded, hidden, width()).data(), rows, stream.data());
  math_.Normalize(stream.data(), input_norm_, epsilon, rows, hidden.data());
  layer_->Run(math_, plan, hidden.data(), stream.data());
  math_.Normalize(stream.data(), output_norm_, epsilon, rows, stream.data());
  Result result;
  FORERUN_ASSIGN_OR_RETURN(result.rows, backbone_->HeadOutputs(stream, batch.rows));
  result.features = std::move(stream);
  return result;
}

}  // namespace forerun
