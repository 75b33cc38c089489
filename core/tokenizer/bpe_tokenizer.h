// Byte-level BPE (GPT-2 and its descendants): the text is cut into words, each word's bytes become tokens,
// and neighbours merge in the order that the file lists. Any bytes go in and come back. Sennrich et al. 2016;
// Radford et al. 2019.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "core/tokenizer/merge_queue.h"
#include "core/tokenizer/merge_table.h"
#include "core/tokenizer/pre_tokenizer.h"
#include "core/tokenizer/vocabulary_tokenizer.h"

namespace forerun {

class BpeTokenizer final : public VocabularyTokenizer {
 public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> FromGguf(const GgufFile& file);

 private:
  BpeTokenizer(Vocabulary vocabulary, TokenizerSettings settings, MergeTable merges,
               PreTokenizer pre_tokenizer);

  absl::Status EncodeStretch(absl::string_view text, std::vector<TokenId>& ids) const override;
  std::string NormalBytes(TokenId token) const override;
  absl::Status EncodeWord(absl::string_view word, MergeQueue& queue, std::vector<TokenId>& ids) const;

  MergeTable merges_;
  PreTokenizer pre_tokenizer_;
  std::array<TokenId, 256> byte_tokens_;  // -1: the vocabulary lacks the byte
};

}  // namespace forerun
