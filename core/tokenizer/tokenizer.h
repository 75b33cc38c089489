// Text to ids and back, as the model file says: byte-level BPE or SentencePiece-style BPE.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"
#include "core/formats/gguf_file.h"

namespace forerun {

struct EncodeOptions {
  bool add_special = false;    // BOS (and EOS) where the file says so
  bool parse_special = false;  // "<|im_end|>" in the text is that token, not its characters
};

class Tokenizer {
 public:
  // InvalidArgument for a tokenizer that the file describes wrongly or that is not supported.
  static absl::StatusOr<std::unique_ptr<Tokenizer>> FromGguf(const GgufFile& file);
  virtual ~Tokenizer() = default;

  // InvalidArgument where the text cannot be encoded (for instance a byte that the vocabulary lacks).
  virtual absl::StatusOr<std::vector<TokenId>> Encode(absl::string_view text,
                                                      const EncodeOptions& options) const = 0;

  // The bytes a token stands for; not always valid UTF-8. Control tokens are empty unless `with_special`.
  virtual std::string TokenBytes(TokenId token, bool with_special = false) const = 0;

  // What the file calls the token ("Ġthe", "▁the").
  virtual absl::string_view TokenText(TokenId token) const = 0;

  virtual int vocab_size() const = 0;
  virtual TokenId bos() const = 0;  // -1: none
  virtual bool adds_bos() const = 0;
  // Tokens that end a generation: EOS, and end-of-turn tokens that the vocabulary has (<|im_end|>,
  // <|endoftext|>, <end_of_turn>, <|eot_id|>).
  virtual std::span<const TokenId> end_tokens() const = 0;
  virtual bool IsControl(TokenId token) const = 0;
  virtual const std::string& chat_template() const = 0;  // empty: the file has none

  std::string Decode(std::span<const TokenId> tokens, bool with_special = false) const;
  const std::string& source() const { return source_; }  // the model file's path, for messages

 private:
  std::string source_;
};

// OK where every token of both vocabularies is the same text of the same kind; otherwise InvalidArgument
// naming the first difference.
absl::Status CheckSameVocabulary(const Tokenizer& target, const Tokenizer& draft);

// Hands out text as tokens arrive; never a broken UTF-8 sequence between two calls. Invalid bytes come out as
// U+FFFD.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}
  std::string Add(TokenId token);  // the text that is complete now
  std::string Finish();            // whatever is left

 private:
  const Tokenizer& tokenizer_;
  std::string pending_;  // bytes of an unfinished character
};

}  // namespace forerun
