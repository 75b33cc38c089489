// Between two models that share no vocabulary: what the target wrote as the draft model's tokens, and what
// the draft model wrote as the target's. Either by text (the words are decoded and encoded anew) or by the
// tokens that are the same bytes in both. Without tokenizers both vocabularies are one, and ids stand for
// themselves.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/model/model.h"
#include "core/tokenizer/tokenizer.h"

namespace forerun {

// One sequence's text so far, as the draft model's tokens. A cache: what Translate() gives depends on the
// tokens alone.
struct TranslatedText {
  std::vector<TokenId> tokens;  // the target's, translated so far
  std::string text;             // of `tokens`
  std::size_t settled = 0;      // bytes of `text` whose translation more text cannot change
  std::vector<TokenId> ids;     // of those bytes
};

class VocabularyBridge {
 public:
  // Null tokenizers: InvalidArgument where the vocabularies differ in size.
  static absl::StatusOr<VocabularyBridge> Create(const Tokenizer* target, const Tokenizer* draft,
                                                 int target_vocab, int draft_vocab);

  // The draft model's tokens of what the target has written: InvalidArgument where it has none for some byte.
  absl::StatusOr<std::vector<TokenId>> Translate(std::span<const TokenId> committed,
                                                 TranslatedText& cache) const;
  // The target's tokens of a text that the draft model wrote, up to its first control token.
  std::vector<TokenId> EncodeDrafted(std::span<const TokenId> drafted) const;

  // Tokens that are the same in both: [draft vocabulary] and [target vocabulary], -1 where there is none.
  std::span<const TokenId> target_of() const { return target_of_; }
  std::span<const TokenId> draft_of() const { return draft_of_; }
  std::vector<TokenId> SharedDraftIds() const;  // ascending

 private:
  VocabularyBridge() = default;
  void MatchTokens();

  const Tokenizer* target_ = nullptr;
  const Tokenizer* draft_ = nullptr;
  std::vector<TokenId> target_of_, draft_of_;
};

// The end of the piece of `text` that begins at `begin` and can be encoded on its own: at least 64 bytes,
// before a space between two words, where no pre-tokenizer joins what stands on both sides; after 1,024 bytes
// without such a place, anywhere between characters. `text.size()` where the piece is not complete.
std::size_t EndOfPiece(absl::string_view text, std::size_t begin);

}  // namespace forerun
