// What a model file says about its tokenizer besides the tokens: the special ids, what Encode adds, and the
// chat template's text.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/types.h"
#include "core/formats/gguf_file.h"
#include "core/tokenizer/vocabulary.h"

namespace forerun {

struct TokenizerSettings {
  TokenId bos = -1;  // -1: none
  TokenId eos = -1;
  bool adds_bos = false;
  bool adds_eos = false;
  std::vector<TokenId> end_tokens;  // ascending
  std::string chat_template;        // empty: none
};

// `adds_bos` holds where the file does not say and has a BOS.
absl::StatusOr<TokenizerSettings> ReadTokenizerSettings(const GgufFile& file, const Vocabulary& vocabulary,
                                                        bool adds_bos);

}  // namespace forerun
