#include "drafters/lookup/corpus_file.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr uint32_t kVersion = 1;

struct Header {
  char magic[8];
  uint32_t version, kind;
  uint64_t vocabulary_hash;
  int32_t vocabulary_size;
  uint32_t longest;
  uint64_t first_words, second_words;
  uint64_t tokens;
  uint64_t checksum;  // of everything, with zero in its own place
};
static_assert(sizeof(Header) == 64);

// A multiply and a rotation a word: against accidents, not against intent.
class Checksum {
 public:
  void Add(std::span<const uint32_t> words) {
    for (const uint32_t word : words) {
      value_ = (value_ ^ word) * 0x9E3779B97F4A7C15;
      value_ = value_ << 29 | value_ >> 35;
    }
  }
  void Add(Header header) {
    header.checksum = 0;
    uint32_t words[sizeof(Header) / sizeof(uint32_t)];
    std::memcpy(words, &header, sizeof header);
    Add(words);
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0x243F6A8885A308D3;
};

template <class Expected, class Found>
std::string Difference(absl::string_view what, const Expected& expected, const Found& found) {
  return absl::StrCat(what, ": expected ", expected, ", found ", found);
}

}  // namespace

const char* CorpusKindName(CorpusKind kind) {
  switch (kind) {
    case CorpusKind::kSuffixArray:
      return "suffix_array";
    case CorpusKind::kNgram:
      return "ngram";
  }
  FORERUN_CHECK(false);
}

VocabularyId VocabularyIdOf(const Tokenizer& tokenizer) {
  uint64_t hash = 0xcbf29ce484222325;  // 64-bit FNV-1a
  const auto add = [&hash](uint64_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (TokenId token = 0; token < tokenizer.vocab_size(); ++token) {
    for (const char byte : tokenizer.TokenText(token)) add(static_cast<unsigned char>(byte));
    add(tokenizer.IsControl(token) ? 0x101 : 0x100);  // no byte: ends the word
  }
  return {tokenizer.vocab_size(), hash};
}

std::string CorpusBytes(const CorpusContent& content) {
  Header header = {.magic = {},
                   .version = kVersion,
                   .kind = static_cast<uint32_t>(content.kind),
                   .vocabulary_hash = content.vocabulary.hash,
                   .vocabulary_size = content.vocabulary.size,
                   .longest = content.longest,
                   .first_words = content.first.size(),
                   .second_words = content.second.size(),
                   .tokens = content.tokens,
                   .checksum = 0};
  std::memcpy(header.magic, kCorpusMagic, sizeof header.magic);
  Checksum checksum;
  checksum.Add(header);
  checksum.Add(content.first);
  checksum.Add(content.second);
  header.checksum = checksum.value();
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  for (const std::span<const uint32_t> table : {content.first, content.second})
    bytes.append(reinterpret_cast<const char*>(table.data()), table.size_bytes());
  return bytes;
}

absl::Status CorpusFile::Read(std::span<const std::byte> bytes, CorpusKind kind,
                              const VocabularyId& vocabulary) {
  const auto damaged = [this](const std::string& what) {
    return absl::DataLossError(absl::StrCat(name_, ": ", what));
  };
  const auto other = [this](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(name_, ": ", what));
  };
  Header header;
  if (bytes.size() < sizeof header)
    return damaged(Difference("length", "a header of 64 bytes", absl::StrCat(bytes.size(), " bytes")));
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, kCorpusMagic, sizeof header.magic) != 0)
    return other("no corpus: make one with `forerun corpus build`");
  if (header.version != kVersion) return other(Difference("version", kVersion, header.version));
  const uint64_t words = (bytes.size() - sizeof header) / sizeof(uint32_t);
  if ((bytes.size() - sizeof header) % sizeof(uint32_t) != 0 || header.first_words > words ||
      header.second_words != words - header.first_words) {
    return damaged(Difference(
        "length", absl::StrCat("64 + 4 * (", header.first_words, " + ", header.second_words, ") bytes"),
        bytes.size()));
  }
  const std::span<const uint32_t> table(reinterpret_cast<const uint32_t*>(bytes.data() + sizeof header),
                                        words);
  Checksum checksum;
  checksum.Add(header);
  checksum.Add(table);
  if (checksum.value() != header.checksum)
    return damaged(Difference("checksum", absl::Hex(header.checksum), absl::Hex(checksum.value())));
  if (header.kind != static_cast<uint32_t>(kind)) {
    const bool known = header.kind == 1 || header.kind == 2;
    return other(Difference("kind", CorpusKindName(kind),
                            known ? CorpusKindName(static_cast<CorpusKind>(header.kind)) : "another"));
  }
  const VocabularyId found = {header.vocabulary_size, header.vocabulary_hash};
  if (found != vocabulary) {
    return other(
        Difference("vocabulary", absl::StrCat("the target's ", vocabulary.size, " words"),
                   absl::StrCat(found.size == vocabulary.size ? "other " : "", found.size, " words")));
  }
  content_ = {kind,
              vocabulary,
              header.longest,
              header.tokens,
              table.first(header.first_words),
              table.subspan(header.first_words)};
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CorpusFile>> CorpusFile::Open(absl::string_view path, CorpusKind kind,
                                                             const VocabularyId& vocabulary) {
  FORERUN_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  std::unique_ptr<CorpusFile> corpus(new CorpusFile);
  corpus->name_ = mapped.path();
  corpus->file_ = std::make_unique<MappedFile>(std::move(mapped));
  FORERUN_RETURN_IF_ERROR(corpus->Read(corpus->file_->bytes(), kind, vocabulary));
  return corpus;
}

absl::StatusOr<std::unique_ptr<CorpusFile>> CorpusFile::FromBytes(std::string bytes, CorpusKind kind,
                                                                  const VocabularyId& vocabulary) {
  std::unique_ptr<CorpusFile> corpus(new CorpusFile);
  corpus->name_ = "memory";
  corpus->memory_ = std::move(bytes);
  FORERUN_RETURN_IF_ERROR(corpus->Read(std::as_bytes(std::span(corpus->memory_)), kind, vocabulary));
  return corpus;
}

}  // namespace forerun
