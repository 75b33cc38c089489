#include "core/tokenizer/tokenizer.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tokenizer/bpe_tokenizer.h"
#include "core/tokenizer/spm_tokenizer.h"

namespace forerun {
namespace {

constexpr char kModelKey[] = "tokenizer.ggml.model";

absl::StatusOr<std::unique_ptr<Tokenizer>> FromGgufOfModel(absl::string_view model, const GgufFile& file) {
  if (model == "gpt2") return BpeTokenizer::FromGguf(file);
  if (model == "llama") return SpmTokenizer::FromGguf(file);
  return absl::InvalidArgumentError(absl::StrCat(
      file.path(), ": ", kModelKey,
      ": expected \"gpt2\" (byte-level BPE) or \"llama\" (SentencePiece BPE), found \"", model, "\""));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Tokenizer>> Tokenizer::FromGguf(const GgufFile& file) {
  if (!file.Has(kModelKey)) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.path(), ": ", kModelKey, ": missing, the file has no tokenizer"));
  }
  FORERUN_ASSIGN_OR_RETURN(const std::string model, file.GetString(kModelKey));
  FORERUN_ASSIGN_OR_RETURN(std::unique_ptr<Tokenizer> tokenizer, FromGgufOfModel(model, file));
  tokenizer->source_ = file.path();
  return tokenizer;
}

std::string Tokenizer::Decode(std::span<const TokenId> tokens, bool with_special) const {
  std::string bytes;
  for (const TokenId token : tokens) bytes += TokenBytes(token, with_special);
  return bytes;
}

}  // namespace forerun
