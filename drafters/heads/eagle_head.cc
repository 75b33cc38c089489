#include "drafters/heads/eagle_head.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace forerun {

std::vector<float> EagleHead::TargetFeatures(const Features& states, int first_row, int rows) const {
  FORERUN_CHECK(states.taps.size() == config_.taps.size());
  std::vector<float> joined = JoinStates(states, first_row, rows);
  const int64_t width = states.width;
  for (std::size_t part = 0; !state_norms_.empty() && part < joined.size() / width; ++part) {
    float* const x = joined.data() + part * width;
    math_.Normalize(x, state_norms_[part % states.taps.size()], config_.norm_epsilon, 1, x);
  }
  if (!is_eagle3_) return joined;
  if (!joined_norm_.empty()) {
    math_.Normalize(joined.data(), joined_norm_, config_.norm_epsilon, rows, joined.data());
  }
  std::vector<float> features(static_cast<std::size_t>(rows) * config_.width);
  math_.Multiply(fc_, joined.data(), rows, features.data());
  return features;
}

void EagleHead::Embed(const ForwardBatch& batch, float* x) const {
  std::vector<TokenId> tokens;
  for (const ForwardRow& row : batch.rows) tokens.push_back(row.token);
  if (!embedding_) return backbone_->Embed(tokens, x);
  for (std::size_t i = 0; i < tokens.size(); ++i) embedding_->Read(tokens[i], x + i * config_.width);
}

absl::StatusOr<EagleHead::Result> EagleHead::Forward(const ForwardBatch& batch,
                                                     std::span<const float> features, int context_length) {
  FORERUN_ASSIGN_OR_RETURN(const ForwardPlan plan, PlanForward(batch, target_vocab_, context_length));
  const int64_t rows = static_cast<int64_t>(batch.rows.size()), width = config_.width;
  FORERUN_CHECK(static_cast<int64_t>(features.size()) == rows * width);
  std::vector<float> embedded(rows * width);
  Embed(batch, embedded.data());
  std::vector<float> stream(features.begin(), features.end());
  if (is_eagle3_) {
    std::vector<float> normed(rows * width);
    math_.Normalize(embedded.data(), embedding_norm_, config_.norm_epsilon, rows, embedded.data());
    math_.Normalize(stream.data(), hidden_norm_, config_.norm_epsilon, rows, normed.data());
    const std::vector<float> input = Beside(embedded, normed, width);
    if (config_.norm_before_residual) stream = std::move(normed);
    layer_->Run(math_, plan, input.data(), stream.data());
  } else {
    const std::vector<float> joined = Beside(embedded, features, width);
    math_.Multiply(fc_, joined.data(), rows, stream.data());
    const std::vector<float> input = stream;
    layer_->Run(math_, plan, input.data(), stream.data());
  }
  Result result;
  FORERUN_ASSIGN_OR_RETURN(result.rows, Outputs(batch, stream));
  if (config_.feed_back_normed && is_eagle3_) {
    math_.Normalize(stream.data(), output_norm_, config_.norm_epsilon, rows, stream.data());
  }
  result.features = std::move(stream);
  return result;
}

absl::StatusOr<std::vector<RowOutput>> EagleHead::Outputs(const ForwardBatch& batch,
                                                          const std::vector<float>& stream) {
  if (!is_eagle3_) return backbone_->HeadOutputs(stream, batch.rows);
  std::vector<float> hidden;
  std::vector<ForwardRow> wanted;
  for (std::size_t i = 0; i < batch.rows.size(); ++i) {
    if (batch.rows[i].wanted == WantedOutput::kNone) continue;
    hidden.insert(hidden.end(), stream.begin() + i * config_.width, stream.begin() + (i + 1) * config_.width);
    wanted.push_back(batch.rows[i]);
  }
  std::vector<RowOutput> rows(batch.rows.size());
  if (wanted.empty()) return rows;
  if (config_.norm_before_head) {
    math_.Normalize(hidden.data(), output_norm_, config_.norm_epsilon, static_cast<int64_t>(wanted.size()),
                    hidden.data());
  }
  FORERUN_ASSIGN_OR_RETURN(std::vector<RowOutput> said,
                           VocabularyOutputs(vocabulary_, math_, hidden, wanted, files_->path()));
  for (std::size_t i = 0, next = 0; i < rows.size(); ++i) {
    if (batch.rows[i].wanted != WantedOutput::kNone) rows[i] = std::move(said[next++]);
  }
  return rows;
}

}  // namespace forerun
