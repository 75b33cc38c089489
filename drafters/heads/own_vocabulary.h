// A head's own output matrix: logits of some or all of the target's words.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "core/model/forward_batch.h"
#include "drafters/heads/head_math.h"

namespace forerun {

struct OwnVocabulary {
  HeadMatrix matrix;                // [words, width]
  std::vector<TokenId> target_ids;  // [words], no id twice; empty: word i is the target's i
  int target_vocab = 0;

  int words() const { return static_cast<int>(matrix.matrix.outputs); }
};

// From `offsets` as EAGLE-3 writes them (d2t): word i is the target's i + offsets[i]. InvalidArgument for an
// id outside the vocabulary or given twice; `where` names the tensor.
absl::StatusOr<std::vector<TokenId>> TargetIdsFromOffsets(std::span<const int64_t> offsets, int target_vocab,
                                                          absl::string_view where);
// The same from the ids themselves.
absl::StatusOr<std::vector<TokenId>> CheckTargetIds(std::span<const int64_t> ids, int target_vocab,
                                                    absl::string_view where);

// What `wanted` asks of each row of `hidden`, [rows, width]; words that the head lacks are as if their logits
// were minus infinity. DataLoss where a logit is not finite; `where` names the head.
absl::StatusOr<std::vector<RowOutput>> VocabularyOutputs(const OwnVocabulary& vocabulary,
                                                         const HeadMath& math, std::span<const float> hidden,
                                                         std::span<const ForwardRow> wanted,
                                                         absl::string_view where);

}  // namespace forerun
