#include "drafters/heads/medusa_head.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace forerun {

class MedusaHead::Loader {
 public:
  Loader(HeadFiles& files, MedusaHead& head, int target_vocab)
      : files_(files), head_(head), width_(head.backbone_->width()), vocab_(target_vocab) {}

  absl::Status Load() {
    const std::vector<std::string> names = files_.Names();
    const bool vllm = HasPrefix(names, "blocks.");
    if (!vllm && HasPrefix(names, "medusa_head.")) prefix_ = "medusa_head.";
    const int heads = files_.CountNumbered(vllm ? "blocks." : prefix_);
    if (heads == 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          files_.path(), ": expected the tensors of Medusa heads, found none (such as 0.0.linear.weight)"));
    }
    if (vllm) FORERUN_RETURN_IF_ERROR(ReadTokenMap());
    for (int i = 0; i < heads; ++i) {
      head_.heads_.emplace_back();
      FORERUN_RETURN_IF_ERROR(vllm ? LoadVllm(i) : LoadPublished(i));
    }
    if (!prefix_.empty()) {  // the rest is the target's
      for (const std::string& name : names) {
        if (!absl::StartsWith(name, prefix_)) files_.Ignore(name);
      }
    }
    return files_.CheckAllUsed("Medusa heads");
  }

 private:
  static bool HasPrefix(const std::vector<std::string>& names, absl::string_view prefix) {
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return absl::StartsWith(name, prefix); });
  }

  absl::Status LoadPublished(int i) {
    Head& head = head_.heads_.back();
    const std::string prefix = absl::StrCat(prefix_, i, ".");
    const auto block_name = [&](int j) { return absl::StrCat(prefix, j, ".linear"); };
    while (files_.Has(block_name(static_cast<int>(head.blocks.size())) + ".weight")) {
      FORERUN_RETURN_IF_ERROR(AddBlock(block_name(static_cast<int>(head.blocks.size())), /*bias=*/true));
    }
    if (head.blocks.empty()) {
      return absl::NotFoundError(absl::StrCat(files_.path(), ": expected tensor '", block_name(0),
                                              ".weight', found none of that name"));
    }
    int layers = static_cast<int>(head.blocks.size());
    constexpr int kMostLayers = 64;
    for (int j = 1; j <= kMostLayers; ++j) {
      const std::string name = absl::StrCat(prefix, j, ".weight");
      if (!files_.Has(name)) continue;
      FORERUN_RETURN_IF_ERROR(AddVocabulary(name));
      layers = j;
    }
    if (head.vocabulary < 0) {
      const Json layer_count = files_.config().value("medusa_num_layers", Json());
      if (layer_count.is_number_unsigned() && layer_count <= kMostLayers) {
        layers = std::max(layers, layer_count.get<int>());
      }
    }
    if (layers != static_cast<int>(head.blocks.size())) {
      if (head.blocks.size() != 1) {
        return absl::InvalidArgumentError(absl::StrCat(files_.path(), ": head ", i, ": expected ", layers,
                                                       " blocks or one that is repeated, found ",
                                                       head.blocks.size()));
      }
      head.repeats = layers;
    }
    return absl::OkStatus();
  }

  absl::Status LoadVllm(int i) {
    Head& head = head_.heads_.back();
    const auto name = [&](int j) { return absl::StrCat("blocks.", i, ".layers.", j); };
    do {
      const std::string block = name(static_cast<int>(head.blocks.size()));
      FORERUN_RETURN_IF_ERROR(AddBlock(block, files_.Has(block + ".bias")));
    } while (files_.Has(name(static_cast<int>(head.blocks.size())) + ".weight"));
    const std::string own = absl::StrCat("lm_heads.", i, ".weight");
    if (files_.Has(own)) return AddVocabulary(own);
    if (!files_.Has("lm_head.weight")) return absl::OkStatus();
    if (i == 0) return AddVocabulary("lm_head.weight");
    head.vocabulary = 0;
    return absl::OkStatus();
  }

  absl::Status AddBlock(const std::string& name, bool bias) {
    FORERUN_ASSIGN_OR_RETURN(HeadMatrix block, files_.Matrix(name + ".weight", width_, width_));
    if (bias) {
      FORERUN_ASSIGN_OR_RETURN(block.bias, files_.Vector(name + ".bias", width_));
    }
    head_.heads_.back().blocks.push_back(std::move(block));
    return absl::OkStatus();
  }

  absl::Status AddVocabulary(const std::string& name) {
    const int words = token_map_.empty() ? vocab_ : static_cast<int>(token_map_.size());
    OwnVocabulary vocabulary{.matrix = {}, .target_ids = token_map_, .target_vocab = vocab_};
    FORERUN_ASSIGN_OR_RETURN(vocabulary.matrix, files_.Matrix(name, words, width_));
    head_.heads_.back().vocabulary = static_cast<int>(head_.vocabularies_.size());
    head_.vocabularies_.push_back(std::move(vocabulary));
    return absl::OkStatus();
  }

  // Word i is the target's token_map[i].
  absl::Status ReadTokenMap() {
    if (!files_.Has("token_map")) return absl::OkStatus();
    FORERUN_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, files_.Integers("token_map"));
    FORERUN_ASSIGN_OR_RETURN(token_map_,
                             CheckTargetIds(ids, vocab_, absl::StrCat(files_.path(), ": token_map")));
    return absl::OkStatus();
  }

  HeadFiles& files_;
  MedusaHead& head_;
  int64_t width_;
  int vocab_;
  std::string prefix_;
  std::vector<TokenId> token_map_;
};

absl::StatusOr<MedusaHead> MedusaHead::Load(HeadFiles& files, Backbone& backbone, int target_vocab) {
  MedusaHead head(backbone, files.path());
  FORERUN_RETURN_IF_ERROR(Loader(files, head, target_vocab).Load());
  return head;
}

absl::StatusOr<std::vector<RowOutput>> MedusaHead::Outputs(int head, std::span<const float> hidden,
                                                           std::span<const ForwardRow> wanted) const {
  FORERUN_CHECK(head < num_heads());
  const Head& parts = heads_[head];
  const int64_t rows = static_cast<int64_t>(wanted.size());
  std::vector<float> x(hidden.begin(), hidden.end());
  for (const HeadMatrix& block : parts.blocks) math_.AddSilu(block, x.data(), rows, x.data());
  for (int again = 1; again < parts.repeats; ++again) {
    math_.AddSilu(parts.blocks.back(), x.data(), rows, x.data());
  }
  if (parts.vocabulary < 0) return backbone_->HeadOutputs(x, wanted);
  return VocabularyOutputs(vocabularies_[parts.vocabulary], math_, x, wanted, path_);
}

}  // namespace forerun
