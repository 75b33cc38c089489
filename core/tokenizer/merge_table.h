// The merges of a byte-level BPE file as a map from a pair of ids, so that merging never touches text.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/formats/gguf_file.h"
#include "core/tokenizer/vocabulary.h"

namespace forerun {

class MergeTable {
 public:
  struct Merge {
    int32_t rank;  // place in the file; lower joins earlier
    TokenId token;
  };

  // InvalidArgument for a merge that is not two tokens of the vocabulary with a third made of both.
  static absl::StatusOr<MergeTable> FromGguf(const GgufFile& file, const Vocabulary& vocabulary);

  std::optional<Merge> Find(TokenId left, TokenId right) const {
    const auto found = merges_.find(Key(left, right));
    if (found == merges_.end()) return std::nullopt;
    return found->second;
  }

 private:
  static uint64_t Key(TokenId left, TokenId right) {
    return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  }

  absl::flat_hash_map<uint64_t, Merge> merges_;
};

}  // namespace forerun
