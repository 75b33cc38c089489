// From files to an EAGLE head.
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "drafters/heads/eagle_head.h"

namespace forerun {

class EagleHead::Loader {
 public:
  Loader(EagleHead& head, HeadFiles& files)
      : head_(head), files_(files), where_(files.path() + "/config.json") {}

  absl::Status Load(KvDtype dtype) {
    head_.is_eagle3_ =
        !files_.Has("layers.0.self_attn.q_proj.weight") || files_.Has("layers.0.hidden_norm.weight");
    FORERUN_ASSIGN_OR_RETURN(
        head_.config_, ReadEagleConfig(files_.config(), where_, head_.is_eagle3_, head_.backbone_->layers()));
    prefix_ = files_.Has("midlayer.self_attn.q_proj.weight") ? "midlayer." : "layers.0.";
    FORERUN_RETURN_IF_ERROR(LoadEmbedding());
    FORERUN_RETURN_IF_ERROR(head_.is_eagle3_ ? LoadEagle3() : LoadEagle1());
    FORERUN_RETURN_IF_ERROR(LoadLayer(dtype));
    return files_.CheckAllUsed(head_.is_eagle3_ ? "an EAGLE-3 head" : "an EAGLE-1 head");
  }

 private:
  absl::Status LoadEmbedding() {
    constexpr char kName[] = "embed_tokens.weight";
    if (files_.Has(kName)) {
      FORERUN_ASSIGN_OR_RETURN(head_.embedding_,
                               files_.Rows(kName, head_.target_vocab_, head_.config_.width));
    } else if (head_.backbone_->width() != head_.config_.width) {
      return absl::InvalidArgumentError(
          absl::StrCat(where_, ".hidden_size: expected ", head_.backbone_->width(),
                       ", as the head reads the target's embedding, found ", head_.config_.width));
    }
    return absl::OkStatus();
  }

  absl::Status LoadEagle1() {
    const int64_t width = head_.config_.width;
    if (width != head_.backbone_->width()) {
      return absl::InvalidArgumentError(absl::StrCat(where_, ".hidden_size: expected the target's ",
                                                     head_.backbone_->width(), ", found ", width));
    }
    FORERUN_ASSIGN_OR_RETURN(head_.fc_, files_.MatrixWithBias("fc", width, 2 * width));
    return absl::OkStatus();
  }

  absl::Status LoadEagle3() {
    const EagleConfig& config = head_.config_;
    const int64_t width = config.width, states = head_.backbone_->width();
    FORERUN_ASSIGN_OR_RETURN(head_.fc_, files_.MatrixWithBias("fc", width, 3 * states));
    for (int i = 0; files_.Has("fc_norm.0.weight") && i < 3; ++i) {
      FORERUN_ASSIGN_OR_RETURN(std::vector<float> norm,
                               files_.Vector(absl::StrCat("fc_norm.", i, ".weight"), states));
      head_.state_norms_.push_back(std::move(norm));
    }
    if (files_.Has("input_norm.weight")) {
      FORERUN_ASSIGN_OR_RETURN(head_.joined_norm_, files_.Vector("input_norm.weight", 3 * states));
    }
    FORERUN_ASSIGN_OR_RETURN(head_.embedding_norm_, files_.Vector(prefix_ + "input_layernorm.weight", width));
    FORERUN_ASSIGN_OR_RETURN(head_.hidden_norm_, files_.Vector(prefix_ + "hidden_norm.weight", width));
    if (config.norm_before_head || config.feed_back_normed) {
      FORERUN_ASSIGN_OR_RETURN(head_.output_norm_, files_.Vector("norm.weight", width));
    } else {
      files_.Ignore("norm.weight");
    }
    return LoadVocabulary();
  }

  absl::Status LoadVocabulary() {
    OwnVocabulary& own = head_.vocabulary_;
    own.target_vocab = head_.target_vocab_;
    const int words = head_.config_.draft_vocab == 0 ? head_.target_vocab_ : head_.config_.draft_vocab;
    FORERUN_ASSIGN_OR_RETURN(own.matrix, files_.Matrix("lm_head.weight", words, head_.config_.width));
    files_.Ignore("t2d");  // which of the target's words have one of the head's: d2t says it all
    if (files_.Has("d2t")) {
      FORERUN_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets, files_.Integers("d2t"));
      const std::string where = absl::StrCat(files_.path(), ": tensor 'd2t'");
      if (static_cast<int>(offsets.size()) != words) {
        return absl::InvalidArgumentError(
            absl::StrCat(where, ": expected ", words, " offsets, found ", offsets.size()));
      }
      FORERUN_ASSIGN_OR_RETURN(own.target_ids, TargetIdsFromOffsets(offsets, own.target_vocab, where));
    } else if (words != own.target_vocab) {
      return absl::NotFoundError(absl::StrCat(files_.path(), ": expected tensor 'd2t', as the head has ",
                                              words, " of ", own.target_vocab,
                                              " words, found none of that name"));
    }
    return absl::OkStatus();
  }

  absl::Status LoadLayer(KvDtype dtype) {
    DraftLayerShape shape = head_.config_;
    if (head_.is_eagle3_) shape.input_width = 2 * shape.width;
    FORERUN_ASSIGN_OR_RETURN(DraftLayerWeights weights, LoadDraftLayer(files_, prefix_, shape));
    head_.layer_ = std::make_unique<DraftLayer>(shape, std::move(weights), dtype);
    return absl::OkStatus();
  }

  EagleHead& head_;
  HeadFiles& files_;
  std::string where_;   // of config.json
  std::string prefix_;  // of the layer's tensors
};

absl::StatusOr<EagleHead> EagleHead::Load(HeadFiles files, Backbone& backbone, int target_vocab,
                                          KvDtype dtype) {
  EagleHead head(backbone, target_vocab);
  FORERUN_RETURN_IF_ERROR(Loader(head, files).Load(dtype));
  head.files_ = std::move(files);
  return head;
}

}  // namespace forerun
