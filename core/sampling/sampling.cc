// The allowed ranges, one line each.
#include "core/sampling/sampling.h"

#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace forerun {
namespace {

absl::Status Refuse(absl::string_view field, double value, absl::string_view allowed) {
  return absl::InvalidArgumentError(absl::StrCat("sampling: ", field, " is ", value, ", allowed: ", allowed));
}

absl::Status ValidateBias(const Sampling& sampling, int vocab_size) {
  absl::flat_hash_set<TokenId> seen;
  for (const auto& [token, bias] : sampling.logit_bias) {
    if (token < 0 || token >= vocab_size) {
      return Refuse("logit_bias token", token, absl::StrCat("0 to ", vocab_size - 1));
    }
    if (!std::isfinite(bias)) {
      return Refuse(absl::StrCat("logit_bias of token ", token), bias, "finite numbers");
    }
    if (!seen.insert(token).second) return Refuse("logit_bias token", token, "each token once");
  }
  return absl::OkStatus();
}

}  // namespace

// Comparisons are written so that NaN fails them.
absl::Status Validate(const Sampling& sampling, int vocab_size) {
  if (!(sampling.temperature >= 0 && std::isfinite(sampling.temperature))) {
    return Refuse("temperature", sampling.temperature, "0 or a positive finite number");
  }
  if (sampling.top_k < 0) return Refuse("top_k", sampling.top_k, "0 (off) or a positive count");
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
    return Refuse("top_p", sampling.top_p, "above 0, at most 1 (off)");
  }
  if (!(sampling.min_p >= 0 && sampling.min_p <= 1)) return Refuse("min_p", sampling.min_p, "0 (off) to 1");
  if (!(sampling.repetition_penalty > 0 && std::isfinite(sampling.repetition_penalty))) {
    return Refuse("repetition_penalty", sampling.repetition_penalty, "positive finite numbers, 1 is off");
  }
  if (!std::isfinite(sampling.presence_penalty)) {
    return Refuse("presence_penalty", sampling.presence_penalty, "finite numbers, 0 is off");
  }
  if (!std::isfinite(sampling.frequency_penalty)) {
    return Refuse("frequency_penalty", sampling.frequency_penalty, "finite numbers, 0 is off");
  }
  return ValidateBias(sampling, vocab_size);
}

}  // namespace forerun
