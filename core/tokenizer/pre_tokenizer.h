// Byte-level BPE first cuts text into words by a regular expression that the model was trained with; merges
// never cross a cut.
#pragma once

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct pcre2_real_code_8;  // PCRE2's compiled expression

namespace forerun {

class PreTokenizer {
 public:
  // `name` is the file's tokenizer.ggml.pre. InvalidArgument names the supported ones.
  static absl::StatusOr<PreTokenizer> Create(absl::string_view name);

  // Appends the pieces of `text`, in order and without gaps. Bytes that are not UTF-8 become pieces of their
  // own.
  absl::Status Split(absl::string_view text, std::vector<absl::string_view>& pieces) const;

  bool adds_bos() const { return llama3_; }     // where the file does not say
  bool whole_words() const { return llama3_; }  // a word that is in the vocabulary is taken without merging

 private:
  struct CodeDeleter {
    void operator()(pcre2_real_code_8* code) const;
  };

  std::unique_ptr<pcre2_real_code_8, CodeDeleter> code_;  // read-only: threads may share it
  bool llama3_ = false;
};

}  // namespace forerun
