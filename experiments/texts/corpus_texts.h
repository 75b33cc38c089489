// The texts of a corpus: whole files, or one of each line of a .jsonl file, as ids of one vocabulary.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/tokenizer/tokenizer.h"

namespace forerun {

// A file whose name ends in .jsonl has a text a line: its member "text", or "prompt", or each of "turns".
absl::StatusOr<std::vector<std::string>> ReadTexts(const std::string& path);

// Ids of all texts, kTextEnd behind each. A text of megabytes is encoded in parts, cut before lines that
// start with a letter. `progress` hears which share is done.
absl::StatusOr<std::vector<TokenId>> EncodeTexts(const std::vector<std::string>& texts,
                                                 const Tokenizer& tokenizer,
                                                 const std::function<void(double)>& progress);

}  // namespace forerun
