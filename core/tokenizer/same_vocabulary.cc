// A draft's ids mean something to the target only where both vocabularies are one.
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/tokenizer/tokenizer.h"

namespace forerun {
namespace {

std::string Quoted(absl::string_view text) { return absl::StrCat("\"", absl::CHexEscape(text), "\""); }

absl::string_view Kind(const Tokenizer& tokenizer, TokenId token) {
  return tokenizer.IsControl(token) ? "a control token" : "text";
}

class Difference {
 public:
  Difference(const Tokenizer& target, const Tokenizer& draft) : target_(target), draft_(draft) {}

  absl::Status operator()(absl::string_view what, absl::string_view in_target,
                          absl::string_view in_draft) const {
    return absl::InvalidArgumentError(absl::StrCat("target and draft have different vocabularies: ", what,
                                                   ": ", in_target, " in ", target_.source(), ", ", in_draft,
                                                   " in ", draft_.source()));
  }

 private:
  const Tokenizer& target_;
  const Tokenizer& draft_;
};

}  // namespace

absl::Status CheckSameVocabulary(const Tokenizer& target, const Tokenizer& draft) {
  const Difference difference(target, draft);
  if (target.vocab_size() != draft.vocab_size()) {
    return difference("number of tokens", absl::StrCat(target.vocab_size()),
                      absl::StrCat(draft.vocab_size()));
  }
  for (TokenId token = 0; token < target.vocab_size(); ++token) {
    const std::string name = absl::StrCat("token ", token);
    if (target.TokenText(token) != draft.TokenText(token)) {
      return difference(name, Quoted(target.TokenText(token)), Quoted(draft.TokenText(token)));
    }
    if (target.IsControl(token) != draft.IsControl(token)) {
      return difference(absl::StrCat("kind of ", name), Kind(target, token), Kind(draft, token));
    }
    if (target.TokenBytes(token) != draft.TokenBytes(token)) {
      return difference(absl::StrCat("bytes of ", name), Quoted(target.TokenBytes(token)),
                        Quoted(draft.TokenBytes(token)));
    }
  }
  if (target.adds_bos() != draft.adds_bos()) {
    return difference("BOS before a text", target.adds_bos() ? "added" : "not added",
                      draft.adds_bos() ? "added" : "not added");
  }
  if (target.adds_bos() && target.bos() != draft.bos()) {
    return difference("BOS", absl::StrCat("token ", target.bos()), absl::StrCat("token ", draft.bos()));
  }
  return absl::OkStatus();
}

}  // namespace forerun
