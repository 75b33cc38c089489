#include "tests/support/plain_backbone.h"

#include <algorithm>
#include <random>

#include "core/base/check.h"

namespace forerun {

std::vector<float> RandomFloats(std::size_t count, double scale, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(scale * (static_cast<int>(random() % 127) - 63) / 32);
  }
  return values;
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
