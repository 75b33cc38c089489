// Texts prepared for drafting, as `forerun corpus build` writes them: a header of 64 bytes, then two tables
// of 32-bit words, all little-endian, mapped to be read. What a file says about itself is checked before
// anyone sees it: nothing is allocated on its word.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/types.h"
#include "core/formats/mapped_file.h"
#include "core/tokenizer/tokenizer.h"

namespace forerun {

inline constexpr char kCorpusMagic[] = "FRCORPUS";  // the first eight bytes of every corpus

enum class CorpusKind : uint32_t { kSuffixArray = 1, kNgram = 2 };
const char* CorpusKindName(CorpusKind kind);  // "suffix_array", "ngram"

inline constexpr TokenId kTextEnd = -1;  // stands behind each text of a corpus

// Equal for tokenizers that give equal words equal ids.
struct VocabularyId {
  int32_t size = 0;
  uint64_t hash = 0;
  friend bool operator==(const VocabularyId&, const VocabularyId&) = default;
};
VocabularyId VocabularyIdOf(const Tokenizer& tokenizer);

struct CorpusContent {
  CorpusKind kind = CorpusKind::kSuffixArray;
  VocabularyId vocabulary;
  uint32_t longest = 0;  // tokens by which suffixes are sorted; words of an n-gram
  uint64_t tokens = 0;   // of all texts
  std::span<const uint32_t> first, second;
};
std::string CorpusBytes(const CorpusContent& content);

class CorpusFile {
 public:
  // DataLoss for a damaged file; InvalidArgument for one of another kind, version or vocabulary.
  static absl::StatusOr<std::unique_ptr<CorpusFile>> Open(absl::string_view path, CorpusKind kind,
                                                          const VocabularyId& vocabulary);
  static absl::StatusOr<std::unique_ptr<CorpusFile>> FromBytes(std::string bytes, CorpusKind kind,
                                                               const VocabularyId& vocabulary);

  const CorpusContent& content() const { return content_; }
  const std::string& name() const { return name_; }

 private:
  CorpusFile() = default;
  absl::Status Read(std::span<const std::byte> bytes, CorpusKind kind, const VocabularyId& vocabulary);

  std::string name_;
  std::unique_ptr<MappedFile> file_;
  std::string memory_;
  CorpusContent content_;
};

}  // namespace forerun
