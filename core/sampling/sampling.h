// How a distribution is made from logits. The order: penalties and bias on the logits, then temperature, then
// top-k, top-p and min-p on the probabilities, each on what the one before left, then renormalise.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "core/base/types.h"

namespace forerun {

struct Sampling {
  float temperature = 0;         // 0: the best token always (ties: the lowest id)
  int top_k = 0;                 // 0: off
  float top_p = 1;               // 1: off
  float min_p = 0;               // 0: off; keeps tokens with p >= min_p * max p
  float repetition_penalty = 1;  // over prompt and output: logit / r where positive, logit * r where negative
  float presence_penalty = 0;    // over output: subtracted once from every token that occurred
  float frequency_penalty = 0;   // over output: subtracted per occurrence
  std::vector<std::pair<TokenId, float>> logit_bias = {};
  uint64_t seed = 0;

  bool greedy() const { return temperature == 0; }
  // Penalties or a bias come before everything else.
  bool adjusts_logits() const {
    return repetition_penalty != 1 || presence_penalty != 0 || frequency_penalty != 0 || !logit_bias.empty();
  }
  // The best token of a row is the best logit, whatever came before.
  bool plain_argmax() const { return greedy() && !adjusts_logits(); }
};

// InvalidArgument naming the field, its value and the allowed range.
absl::Status Validate(const Sampling& sampling, int vocab_size);

// What a row has seen, for the penalties: the prompt, the
// committed output, and the tokens on the path of a draft.
struct History {
  std::span<const TokenId> prompt;
  std::span<const TokenId> output;
  std::span<const TokenId> path;
};

}  // namespace forerun
