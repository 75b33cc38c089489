#include "drafters/heads/own_vocabulary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/model/top_tokens.h"

namespace forerun {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

double LogSumExp(std::span<const float> logits) {
  const double best = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(logit - best);
  return best + std::log(sum);
}

RowOutput Output(const OwnVocabulary& vocabulary, const ForwardRow& row, std::span<const float> logits) {
  const auto target_id = [&](TokenId word) {
    return vocabulary.target_ids.empty() ? word : vocabulary.target_ids[word];
  };
  RowOutput output;
  if (row.wanted == WantedOutput::kNone) return output;
  FORERUN_CHECK(row.wanted != WantedOutput::kLogProbOf);
  if (row.wanted == WantedOutput::kFull) {
    output.logits.assign(vocabulary.target_vocab, kNothing);
    for (int word = 0; word < vocabulary.words(); ++word) output.logits[target_id(word)] = logits[word];
    return output;
  }
  const bool wants_top = row.wanted == WantedOutput::kTopK || row.wanted == WantedOutput::kTopKLogProb;
  std::vector<ScoredToken> top = BestTokens(logits, wants_top ? row.top_k : 1);
  for (ScoredToken& token : top) token.token = target_id(token.token);
  output.argmax = top[0].token;
  output.best_logit = top[0].logit;
  if (row.wanted == WantedOutput::kBestLogProb || row.wanted == WantedOutput::kTopKLogProb) {
    output.log_prob = output.best_logit - LogSumExp(logits);
  }
  if (wants_top) output.top = std::move(top);
  return output;
}

}  // namespace

absl::StatusOr<std::vector<TokenId>> CheckTargetIds(std::span<const int64_t> ids, int target_vocab,
                                                    absl::string_view where) {
  std::vector<bool> seen(target_vocab);
  std::vector<TokenId> target_ids;
  for (std::size_t word = 0; word < ids.size(); ++word) {
    if (ids[word] < 0 || ids[word] >= target_vocab) {
      return absl::InvalidArgumentError(absl::StrCat(where, ": word ", word,
                                                     ": expected a target id from 0 to ", target_vocab - 1,
                                                     ", found ", ids[word]));
    }
    if (seen[ids[word]]) {
      return absl::InvalidArgumentError(absl::StrCat(
          where, ": word ", word, ": expected a target id of its own, found ", ids[word], " a second time"));
    }
    seen[ids[word]] = true;
    target_ids.push_back(static_cast<TokenId>(ids[word]));
  }
  return target_ids;
}

absl::StatusOr<std::vector<TokenId>> TargetIdsFromOffsets(std::span<const int64_t> offsets, int target_vocab,
                                                          absl::string_view where) {
  std::vector<int64_t> ids;
  for (std::size_t word = 0; word < offsets.size(); ++word) {
    int64_t id = -1;
    if (__builtin_add_overflow(offsets[word], static_cast<int64_t>(word), &id)) id = -1;
    ids.push_back(id);
  }
  return CheckTargetIds(ids, target_vocab, where);
}

absl::StatusOr<std::vector<RowOutput>> VocabularyOutputs(const OwnVocabulary& vocabulary,
                                                         const HeadMath& math, std::span<const float> hidden,
                                                         std::span<const ForwardRow> wanted,
                                                         absl::string_view where) {
  const int64_t rows = static_cast<int64_t>(wanted.size());
  const int64_t words = vocabulary.words();
  std::vector<float> logits(rows * words);
  math.Multiply(vocabulary.matrix, hidden.data(), rows, logits.data());
  std::vector<RowOutput> outputs;
  for (int64_t i = 0; i < rows; ++i) {
    const std::span<const float> row = std::span(logits).subspan(i * words, words);
    if (!std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); })) {
      return absl::DataLossError(absl::StrCat(
          where, ": expected finite logits, found one that is not; the weights or the features are damaged"));
    }
    outputs.push_back(Output(vocabulary, wanted[i], row));
  }
  return outputs;
}

}  // namespace forerun
