// What is asked of the engine, and what came of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "core/base/types.h"
#include "core/engine/drafter.h"
#include "core/sampling/sampling.h"
#include "core/verify/verifier.h"

namespace forerun {

class Tokenizer;

struct Request {
  uint64_t id = 0;              // unique among live requests; part of the key of its random numbers
  std::vector<TokenId> prompt;  // at least one token
  Drafter* drafter = nullptr;   // null: plain decoding
  const Verifier* verifier = nullptr;
  int num_speculative_tokens = 0;  // K, root not counted; 0: plain decoding
  Sampling sampling;
  int max_new_tokens = 128;
  std::vector<TokenId> end_tokens;        // generation ends after one of these is emitted
  std::vector<std::string> stop_strings;  // ... or once the text contains one of these; needs `tokenizer`
  const Tokenizer* tokenizer = nullptr;
  bool want_log_probs = false;
  std::vector<TokenId> prediction;  // what the output may look like, for drafters that use it; may be empty
};

enum class FinishReason { kEndToken, kStopString, kMaxTokens, kContextEnd, kError };
const char* FinishReasonName(
    FinishReason reason);  // "end_token", "stop_string", "max_tokens", "context_end", "error"

struct RequestResult {
  uint64_t id = 0;
  std::vector<TokenId> output;    // everything emitted, the token that ended it included
  std::vector<double> log_probs;  // [output] of the unwarped target, where wanted
  FinishReason reason = FinishReason::kError;
  absl::Status status;  // not OK only for kError
  int rounds = 0;
  int64_t drafted = 0;
  int64_t accepted = 0;        // drafted tokens that were emitted
  double prefill_seconds = 0;  // target prefill and drafter catch-up before the first round
  double decode_seconds = 0;   // all rounds
};

}  // namespace forerun
