#include "drafters/heads/dflash_head.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "drafters/heads/head_config.h"

namespace forerun {
namespace {

// All rows of a segment see what its last one sees: the whole block.
void SeeWholeBlocks(const ForwardBatch& batch, ForwardPlan& plan) {
  for (const ForwardSegment& segment : batch.segments) {
    const auto first = plan.attention.begin() + segment.first_row;
    std::fill(first, first + segment.num_rows, *(first + segment.num_rows - 1));
  }
}

}  // namespace

class DflashHead::Loader {
 public:
  Loader(HeadFiles& files, DflashHead& head) : files_(files), head_(head) {}

  absl::Status Load(KvDtype dtype) {
    FORERUN_RETURN_IF_ERROR(ReadConfig());
    const int64_t width = shape_.width;
    FORERUN_ASSIGN_OR_RETURN(head_.fc_, files_.Matrix("fc.weight", width, std::ssize(head_.taps_) * width));
    FORERUN_ASSIGN_OR_RETURN(head_.hidden_norm_, files_.Vector("hidden_norm.weight", width));
    FORERUN_ASSIGN_OR_RETURN(head_.output_norm_, files_.Vector("norm.weight", width));
    head_.norm_epsilon_ = shape_.norm_epsilon;
    head_.layout_ = DraftLayout(shape_, layers_, dtype);
    for (int i = 0; i < layers_; ++i) FORERUN_RETURN_IF_ERROR(LoadLayer(i));
    return files_.CheckAllUsed("a DFlash drafter");
  }

 private:
  absl::Status ReadConfig() {
    const std::string where = files_.path() + "/config.json";
    ConfigReader reader(files_.config(), where);
    shape_ = ReadLayerShape(reader);
    layers_ = reader.Int("num_hidden_layers", 0, 1, 64);
    const int width = head_.backbone_->width(), target_layers = head_.backbone_->layers();
    if (shape_.width != width) {
      reader.Fail("hidden_size", absl::StrCat("the target's ", width), reader.Find("hidden_size"));
    }
    reader.Expect("num_target_layers", target_layers);
    const Json* types = reader.Find("layer_types");
    if (types != nullptr && std::any_of(types->begin(), types->end(),
                                        [](const Json& type) { return type != "full_attention"; })) {
      reader.Fail("layer_types", "full_attention alone", types);
    }
    FORERUN_RETURN_IF_ERROR(reader.status());
    const Json none = Json::object();
    ConfigReader own(reader.ObjectOr("dflash_config", none), where + ".dflash_config");
    constexpr int kLongest = 256;
    head_.block_size_ = reader.Find("block_size") != nullptr ? reader.Int("block_size", 0, 2, kLongest)
                                                             : own.Int("block_size", 0, 2, kLongest);
    head_.mask_token_ = own.Int("mask_token_id", -1, 0, head_.target_vocab_ - 1);
    own.Expect("fc_layernorm", false);
    const Json* ids = own.Find("target_layer_ids");
    const bool good = ids != nullptr && ids->is_array() && !ids->empty() &&
                      std::all_of(ids->begin(), ids->end(), [&](const Json& id) {
                        return id.is_number_integer() && id >= 0 && id < target_layers - 1;
                      });
    if (!good) own.Fail("target_layer_ids", absl::StrCat("layers from 0 to ", target_layers - 2), ids);
    for (std::size_t i = 0; good && i < ids->size(); ++i) head_.taps_.push_back((*ids)[i].get<int>() + 1);
    FORERUN_RETURN_IF_ERROR(reader.status());
    return own.status();
  }

  absl::Status LoadLayer(int i) {
    const std::string prefix = absl::StrCat("layers.", i, ".");
    FORERUN_ASSIGN_OR_RETURN(DraftLayerWeights weights, LoadDraftLayer(files_, prefix, shape_));
    FORERUN_ASSIGN_OR_RETURN(weights.q_norm,
                             files_.Vector(prefix + "self_attn.q_norm.weight", shape_.head_size));
    FORERUN_ASSIGN_OR_RETURN(weights.k_norm,
                             files_.Vector(prefix + "self_attn.k_norm.weight", shape_.head_size));
    FORERUN_ASSIGN_OR_RETURN(std::vector<float> norm,
                             files_.Vector(prefix + "input_layernorm.weight", shape_.width));
    head_.layers_.push_back({std::move(norm), DraftLayer(shape_, std::move(weights), head_.layout_, i)});
    return absl::OkStatus();
  }

  HeadFiles& files_;
  DflashHead& head_;
  DraftLayerShape shape_;
  int layers_ = 0;
};

absl::StatusOr<std::unique_ptr<DflashHead>> DflashHead::Load(HeadFiles& files, Backbone& backbone,
                                                             int target_vocab, KvDtype dtype) {
  std::unique_ptr<DflashHead> head(new DflashHead(backbone, target_vocab));
  FORERUN_RETURN_IF_ERROR(Loader(files, *head).Load(dtype));
  return head;
}

absl::Status DflashHead::Remember(const ForwardBatch& batch, std::span<const float> states,
                                  int context_length) {
  FORERUN_ASSIGN_OR_RETURN(const ForwardPlan plan, PlanForward(batch, target_vocab_, context_length));
  const int64_t rows = static_cast<int64_t>(batch.rows.size());
  FORERUN_CHECK(std::ssize(states) == rows * fc_.matrix.columns);
  std::vector<float> context(rows * backbone_->width());
  math_.Multiply(fc_, states.data(), rows, context.data());
  math_.Normalize(context.data(), hidden_norm_, norm_epsilon_, rows, context.data());
  for (Layer& layer : layers_) layer.layer.Remember(math_, plan, context.data());
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RowOutput>> DflashHead::Guess(const ForwardBatch& batch, int context_length) {
  FORERUN_ASSIGN_OR_RETURN(ForwardPlan plan, PlanForward(batch, target_vocab_, context_length));
  SeeWholeBlocks(batch, plan);
  const int64_t rows = static_cast<int64_t>(batch.rows.size());
  std::vector<TokenId> tokens;
  for (const ForwardRow& row : batch.rows) tokens.push_back(row.token);
  std::vector<float> stream(rows * backbone_->width()), normed(stream.size());
  backbone_->Embed(tokens, stream.data());
  for (Layer& layer : layers_) {
    math_.Normalize(stream.data(), layer.input_norm, norm_epsilon_, rows, normed.data());
    layer.layer.Run(math_, plan, normed.data(), stream.data());
  }
  math_.Normalize(stream.data(), output_norm_, norm_epsilon_, rows, stream.data());
  return backbone_->HeadOutputs(stream, batch.rows);
}

}  // namespace forerun
