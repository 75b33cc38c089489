#include "core/tokenizer/tokenizer_settings.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

// Each ends an answer where it is a control token, whatever the file's EOS is: chat models end turns with one
// and documents with another.
constexpr std::array<absl::string_view, 5> kEndTexts = {"<|im_end|>", "<|endoftext|>", "<end_of_turn>",
                                                        "<|eot_id|>", "<|end_of_text|>"};

absl::StatusOr<TokenId> ReadTokenId(const GgufFile& file, absl::string_view key,
                                    const Vocabulary& vocabulary) {
  if (!file.Has(key)) return -1;
  FORERUN_ASSIGN_OR_RETURN(const uint32_t id, file.GetU32(key));
  if (id >= static_cast<uint32_t>(vocabulary.size())) {
    return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", key, ": expected an id below the ",
                                                   vocabulary.size(), " tokens, found ", id));
  }
  return static_cast<TokenId>(id);
}

// Whether Encode adds `token`, by the file's own `key` or else `otherwise`.
absl::StatusOr<bool> ReadAdds(const GgufFile& file, absl::string_view key, bool otherwise, TokenId token) {
  FORERUN_ASSIGN_OR_RETURN(const bool adds, file.GetBoolOr(key, otherwise && token >= 0));
  if (adds && token < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": ", key, ": true, but the file names no such token"));
  }
  return adds;
}

std::vector<TokenId> FindEndTokens(const Vocabulary& vocabulary, TokenId eos, TokenId end_of_turn) {
  std::vector<TokenId> ends;
  for (TokenId token = 0; token < vocabulary.size(); ++token) {
    const bool named =
        vocabulary.Type(token) == TokenType::kControl &&
        std::find(kEndTexts.begin(), kEndTexts.end(), vocabulary.Text(token)) != kEndTexts.end();
    if (named || token == eos || token == end_of_turn) ends.push_back(token);
  }
  return ends;
}

}  // namespace

absl::StatusOr<TokenizerSettings> ReadTokenizerSettings(const GgufFile& file, const Vocabulary& vocabulary,
                                                        bool adds_bos) {
  TokenizerSettings settings;
  FORERUN_ASSIGN_OR_RETURN(settings.bos, ReadTokenId(file, "tokenizer.ggml.bos_token_id", vocabulary));
  FORERUN_ASSIGN_OR_RETURN(settings.eos, ReadTokenId(file, "tokenizer.ggml.eos_token_id", vocabulary));
  FORERUN_ASSIGN_OR_RETURN(const TokenId end_of_turn,
                           ReadTokenId(file, "tokenizer.ggml.eot_token_id", vocabulary));
  FORERUN_ASSIGN_OR_RETURN(settings.adds_bos,
                           ReadAdds(file, "tokenizer.ggml.add_bos_token", adds_bos, settings.bos));
  FORERUN_ASSIGN_OR_RETURN(settings.adds_eos,
                           ReadAdds(file, "tokenizer.ggml.add_eos_token", false, settings.eos));
  settings.end_tokens = FindEndTokens(vocabulary, settings.eos, end_of_turn);
  if (file.Has("tokenizer.chat_template")) {
    FORERUN_ASSIGN_OR_RETURN(settings.chat_template, file.GetString("tokenizer.chat_template"));
  }
  return settings;
}

}  // namespace forerun
