// The tokens of a model file: their texts and kinds, checked, and a map from text to id. Owns its texts, so
// the file may be closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"
#include "core/formats/gguf_file.h"

namespace forerun {

// As GGUF numbers them. A file without kinds has normal tokens only.
enum class TokenType : uint8_t {
  kUndefined = 0,
  kNormal = 1,
  kUnknown = 2,      // SentencePiece's "<unk>"
  kControl = 3,      // "<|im_end|>": never made from ordinary text
  kUserDefined = 4,  // always one token where its text occurs
  kUnused = 5,       // padding of the table
  kByte = 6,         // "<0x0A>": one byte
};

class Vocabulary {
 public:
  static absl::StatusOr<Vocabulary> FromGguf(const GgufFile& file);
  Vocabulary(Vocabulary&&) = default;

  int size() const { return static_cast<int>(types_.size()); }
  absl::string_view Text(TokenId token) const;
  TokenType Type(TokenId token) const;

  // The token that ordinary text may become: control, unknown and byte tokens are never found. The lowest id
  // where the file repeats a text, as published files do. -1: none.
  TokenId Find(absl::string_view text) const;

 private:
  Vocabulary() = default;
  absl::Status ReadTypes(const GgufFile& file);

  std::vector<char> texts_;                              // all texts, one after another
  std::vector<std::size_t> begins_;                      // [size + 1] into texts_
  std::vector<TokenType> types_;                         // [size]
  absl::flat_hash_map<absl::string_view, TokenId> ids_;  // keys point into texts_
};

// The byte that "<0x0A>" names; nothing where the text is not of that form.
std::optional<uint8_t> ParseByteToken(absl::string_view text);

}  // namespace forerun
