#include "drafters/heads/hydra_head.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "drafters/heads/head_config.h"

namespace forerun {

class HydraHead::Loader {
 public:
  Loader(HeadFiles& files, HydraHead& head, int target_vocab)
      : files_(files), head_(head), width_(head.backbone_->width()), vocab_(target_vocab) {}

  absl::Status Load() {
    FORERUN_RETURN_IF_ERROR(ReadConfig());
    const int heads = files_.CountNumbered("hydra_mlp.");
    if (heads == 0) {
      return absl::InvalidArgumentError(absl::StrCat(files_.path(),
                                                     ": expected the tensors of Hydra heads, found none",
                                                     " (such as hydra_mlp.0.0.linear.weight)"));
    }
    for (int i = 0; i < heads; ++i) {
      head_.heads_.emplace_back();
      FORERUN_RETURN_IF_ERROR(LoadHead(i, head_.heads_.back()));
    }
    files_.Ignore("input_embed_fn.weight");  // the target's own embedding, a part of the trained module
    return files_.CheckAllUsed("Hydra heads");
  }

 private:
  absl::Status ReadConfig() {
    ConfigReader reader(files_.config(), files_.path() + "/config.json");
    reader.Expect("hydra_head_arch", "mlp");
    reader.Expect("grounded_heads", true);
    layers_ = reader.Int("hydra_num_layers", 1, 1, 64);
    const int target_layers = head_.backbone_->layers();
    const int offset = reader.Int("hidden_state_offset", 0, 0, target_layers);
    // As HF counts from the end: the last of L + 1 states comes after the final norm, the one before it is
    // what enters layer L - 1.
    head_.tap_ = offset == 0 ? target_layers + 1 : target_layers - offset;
    return reader.status();
  }

  absl::Status LoadHead(int i, Head& head) {
    const auto name = [&](int j) { return absl::StrCat("hydra_mlp.", i, ".", j, ".linear"); };
    const int64_t joined = width_ * (i + 2);
    FORERUN_ASSIGN_OR_RETURN(head.first, files_.MatrixWithBias(name(0), width_, joined));
    FORERUN_ASSIGN_OR_RETURN(
        head.residual,
        files_.MatrixWithBias(absl::StrCat("hydra_mlp.", i, ".0.res_connection"), width_, joined));
    int read = 1;
    for (; files_.Has(name(read) + ".weight") || (read == 1 && layers_ > 1); ++read) {
      FORERUN_ASSIGN_OR_RETURN(HeadMatrix block, files_.MatrixWithBias(name(read), width_, width_));
      head.blocks.push_back(std::move(block));
    }
    if (layers_ > read) head.repeats = layers_ - read + 1;
    const std::string own = absl::StrCat("hydra_lm_head.", i);
    if (!files_.Has(own + ".weight")) return absl::OkStatus();
    head.vocabulary.emplace();
    head.vocabulary->target_vocab = vocab_;
    FORERUN_ASSIGN_OR_RETURN(head.vocabulary->matrix, files_.MatrixWithBias(own, vocab_, width_));
    return absl::OkStatus();
  }

  HeadFiles& files_;
  HydraHead& head_;
  int64_t width_;
  int vocab_;
  int layers_ = 1;
};

absl::StatusOr<HydraHead> HydraHead::Load(HeadFiles& files, Backbone& backbone, int target_vocab) {
  HydraHead head(backbone, files.path());
  FORERUN_RETURN_IF_ERROR(Loader(files, head, target_vocab).Load());
  return head;
}

absl::StatusOr<std::vector<RowOutput>> HydraHead::Outputs(int head, std::span<const float> inputs,
                                                          std::span<const ForwardRow> wanted) const {
  FORERUN_CHECK(head < num_heads());
  const Head& parts = heads_[head];
  const int64_t rows = static_cast<int64_t>(wanted.size());
  FORERUN_CHECK(std::ssize(inputs) == rows * width() * (head + 2));
  std::vector<float> x(rows * width());
  math_.Multiply(parts.residual, inputs.data(), rows, x.data());
  math_.AddSilu(parts.first, inputs.data(), rows, x.data());
  for (const HeadMatrix& block : parts.blocks) math_.AddSilu(block, x.data(), rows, x.data());
  for (int again = 1; again < parts.repeats; ++again) {
    math_.AddSilu(parts.blocks.back(), x.data(), rows, x.data());
  }
  if (!parts.vocabulary) return backbone_->HeadOutputs(x, wanted);
  return VocabularyOutputs(*parts.vocabulary, math_, x, wanted, path_);
}

}  // namespace forerun
