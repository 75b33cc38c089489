// SentencePiece-style BPE: spaces are written "▁", characters become symbols, and the neighbours whose joint
// text is the best-scored token merge first. A character without a token falls back to its bytes. Kudo and
// Richardson 2018. A "▁" in the text itself comes back as a space: the format cannot tell them apart.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/tokenizer/merge_queue.h"
#include "core/tokenizer/vocabulary_tokenizer.h"

namespace forerun {

class SpmTokenizer final : public VocabularyTokenizer {
 public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> FromGguf(const GgufFile& file);

 private:
  SpmTokenizer(Vocabulary vocabulary, TokenizerSettings settings, std::vector<float> scores, bool adds_space,
               TokenId unknown);

  absl::Status EncodeStretch(absl::string_view text, std::vector<TokenId>& ids) const override;
  std::string NormalBytes(TokenId token) const override;
  // `chunk`: text that no merge leaves.
  absl::Status EncodeChunk(absl::string_view chunk, MergeQueue& queue, std::vector<TokenId>& ids) const;
  absl::Status AppendBytes(absl::string_view character, std::vector<TokenId>& ids) const;
  std::size_t ChunkSize(absl::string_view text) const;

  std::vector<float> scores_;             // [vocab]
  bool adds_space_;                       // a space before each stretch of text
  TokenId unknown_;                       // -1: none
  std::array<TokenId, 256> byte_tokens_;  // -1: the vocabulary lacks the byte
  std::array<bool, 256>
      joins_space_{};  // whether some token has "▁" after a character that ends with this byte
};

}  // namespace forerun
