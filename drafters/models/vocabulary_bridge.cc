#include "drafters/models/vocabulary_bridge.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"
#include "core/tokenizer/utf8.h"

namespace forerun {
namespace {

constexpr std::size_t kLeastPiece = 64, kMostPiece = 1024;

// What two tokens must agree in to be the same. Control tokens have a name and no bytes.
std::pair<bool, std::string> Identity(const Tokenizer& tokenizer, TokenId token) {
  const bool control = tokenizer.IsControl(token);
  return {control, control ? std::string(tokenizer.TokenText(token)) : tokenizer.TokenBytes(token)};
}

}  // namespace

std::size_t EndOfPiece(absl::string_view text, std::size_t begin) {
  for (std::size_t at = begin + kLeastPiece; at + 1 < text.size(); ++at) {
    if (text[at] == ' ' && absl::ascii_isalnum(text[at - 1]) && absl::ascii_isalpha(text[at + 1])) return at;
    const bool inside_character = (text[at] & 0xC0) == 0x80;
    if (at - begin >= kMostPiece && !inside_character) return at;
  }
  return text.size();
}

absl::StatusOr<VocabularyBridge> VocabularyBridge::Create(const Tokenizer* target, const Tokenizer* draft,
                                                          int target_vocab, int draft_vocab) {
  VocabularyBridge bridge;
  bridge.target_of_.assign(draft_vocab, -1);
  bridge.draft_of_.assign(target_vocab, -1);
  if (target != nullptr && draft != nullptr) {
    bridge.target_ = target;
    bridge.draft_ = draft;
    bridge.MatchTokens();
    return bridge;
  }
  if (target_vocab != draft_vocab) {
    return absl::InvalidArgumentError(
        absl::StrCat("models without tokenizers: expected vocabularies of one "
                     "size, found ",
                     target_vocab, " and ", draft_vocab));
  }
  for (TokenId token = 0; token < target_vocab; ++token)
    bridge.target_of_[token] = bridge.draft_of_[token] = token;
  return bridge;
}

void VocabularyBridge::MatchTokens() {
  std::map<std::pair<bool, std::string>, TokenId> ids;
  for (TokenId token = 0; token < std::min<int>(target_->vocab_size(), draft_of_.size()); ++token)
    ids.emplace(Identity(*target_, token), token);
  for (TokenId token = 0; token < std::min<int>(draft_->vocab_size(), target_of_.size()); ++token) {
    const auto identity = Identity(*draft_, token);
    const auto found = ids.find(identity);
    if (identity.second.empty() || found == ids.end() || draft_of_[found->second] >= 0) continue;
    target_of_[token] = found->second;
    draft_of_[found->second] = token;
  }
}

std::vector<TokenId> VocabularyBridge::SharedDraftIds() const {
  std::vector<TokenId> ids;
  for (TokenId token = 0; token < std::ssize(target_of_); ++token) {
    if (target_of_[token] >= 0) ids.push_back(token);
  }
  return ids;
}

absl::StatusOr<std::vector<TokenId>> VocabularyBridge::Translate(std::span<const TokenId> committed,
                                                                 TranslatedText& cache) const {
  if (target_ == nullptr) return std::vector<TokenId>(committed.begin(), committed.end());
  const bool grew = cache.tokens.size() <= committed.size() &&
                    std::equal(cache.tokens.begin(), cache.tokens.end(), committed.begin());
  if (!grew) cache = {};
  for (const TokenId token : committed.subspan(cache.tokens.size())) {
    const bool begins = cache.tokens.empty() && target_->adds_bos() && token == target_->bos();
    if (!begins) cache.text += target_->TokenBytes(token, /*with_special=*/true);
    cache.tokens.push_back(token);
  }
  const EncodeOptions with_special{.add_special = false, .parse_special = true};
  const absl::string_view text = cache.text;
  while (true) {
    const std::size_t end = EndOfPiece(text, cache.settled);
    FORERUN_ASSIGN_OR_RETURN(const std::vector<TokenId> piece,
                             draft_->Encode(text.substr(cache.settled, end - cache.settled), with_special));
    if (end == text.size()) {
      std::vector<TokenId> ids;
      if (draft_->adds_bos()) ids.push_back(draft_->bos());
      ids.insert(ids.end(), cache.ids.begin(), cache.ids.end());
      ids.insert(ids.end(), piece.begin(), piece.end());
      return ids;
    }
    cache.ids.insert(cache.ids.end(), piece.begin(), piece.end());
    cache.settled = end;
  }
}

std::vector<TokenId> VocabularyBridge::EncodeDrafted(std::span<const TokenId> drafted) const {
  if (target_ == nullptr) return {drafted.begin(), drafted.end()};
  std::string text;
  for (const TokenId token : drafted) {
    if (draft_->IsControl(token)) break;
    text += draft_->TokenBytes(token);
  }
  text.resize(ValidUtf8Prefix(text));  // a character that is not complete, or the rest of the last one
  absl::StatusOr<std::vector<TokenId>> ids = target_->Encode(text, {});
  if (!ids.ok()) return {};
  // A tokenizer that puts a space before a text would change it.
  std::size_t at = 0, good = 0;
  for (; good < ids->size(); ++good) {
    const std::string bytes = target_->TokenBytes((*ids)[good]);
    if (absl::string_view(text).substr(at, bytes.size()) != bytes) break;
    at += bytes.size();
  }
  ids->resize(good);
  return *std::move(ids);
}

}  // namespace forerun
