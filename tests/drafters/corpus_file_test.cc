// A corpus that is damaged, of another kind or of another vocabulary is refused in one line.
#include "drafters/lookup/corpus_file.h"

#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/corpora.h"
#include "tests/support/program.h"

namespace forerun {
namespace {

using ::testing::HasSubstr;

const std::vector<TokenId> kTokens = {0, 1, 2, 0, 1, kTextEnd, 2, 1, kTextEnd};

absl::Status Opened(const std::string& bytes, CorpusKind kind, int vocab_size = 3) {
  const VocabularyId vocabulary = VocabularyIdOf(ToyTokenizer(vocab_size));
  absl::StatusOr<std::unique_ptr<CorpusFile>> file = CorpusFile::FromBytes(bytes, kind, vocabulary);
  if (!file.ok()) return file.status();
  return kind == CorpusKind::kNgram ? NgramCorpus::Make(*std::move(file)).status()
                                    : SuffixCorpus::Make(*std::move(file)).status();
}

void ExpectRefused(const absl::Status& status, absl::StatusCode code, const char* part) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(part));
  EXPECT_EQ(std::string(status.message()).find('\n'), std::string::npos);
}

TEST(CorpusFile, EveryDamagedByteAndEveryLengthIsNoticed) {
  const ToyTokenizer tokenizer(3);
  for (const CorpusKind kind : {CorpusKind::kSuffixArray, CorpusKind::kNgram}) {
    const std::string bytes =
        kind == CorpusKind::kNgram ? NgramBytes(kTokens, 1, tokenizer) : SuffixBytes(kTokens, tokenizer);
    EXPECT_TRUE(Opened(bytes, kind).ok());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const int flip : {1, 0x80}) {
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ flip);
        EXPECT_FALSE(Opened(damaged, kind).ok()) << "byte " << i;
      }
      EXPECT_FALSE(Opened(bytes.substr(0, i), kind).ok()) << i << " bytes";
    }
    ExpectRefused(Opened(bytes + std::string(4, '\0'), kind), absl::StatusCode::kDataLoss, "length");
  }
}

TEST(CorpusFile, AHeaderThatPromisesMuchAllocatesNothing) {
  std::string bytes = SuffixBytes(kTokens, ToyTokenizer(3));
  const uint64_t promised = uint64_t{1} << 62;
  std::memcpy(bytes.data() + 32, &promised, sizeof promised);
  ExpectRefused(Opened(bytes, CorpusKind::kSuffixArray), absl::StatusCode::kDataLoss, "length");
}

TEST(CorpusFile, OtherKindsVocabulariesAndFilesAreNamed) {
  const std::string bytes = SuffixBytes(kTokens, ToyTokenizer(3));
  ExpectRefused(Opened(bytes, CorpusKind::kNgram), absl::StatusCode::kInvalidArgument,
                "kind: expected ngram, found suffix_array");
  ExpectRefused(Opened(bytes, CorpusKind::kSuffixArray, 4), absl::StatusCode::kInvalidArgument,
                "vocabulary: expected the target's 4 words, found 3 words");
  ExpectRefused(Opened(std::string(100, 'x'), CorpusKind::kNgram), absl::StatusCode::kInvalidArgument,
                "forerun corpus build");
  const TemporaryFolder folder("corpus");
  const VocabularyId vocabulary = VocabularyIdOf(ToyTokenizer(3));
  ExpectRefused(CorpusFile::Open(folder.path() + "/none", CorpusKind::kNgram, vocabulary).status(),
                absl::StatusCode::kNotFound, "/none");
  const std::string path = WriteBytes(folder.path() + "/short", bytes.substr(0, 70));
  ExpectRefused(CorpusFile::Open(path, CorpusKind::kSuffixArray, vocabulary).status(),
                absl::StatusCode::kDataLoss, "/short: length");
}

// A sound checksum over tables that make no sense: what a careless writer could leave.
TEST(CorpusFile, TablesOutOfRangeAreRefused) {
  const VocabularyId vocabulary = VocabularyIdOf(ToyTokenizer(3));
  const auto suffix = [&](std::vector<uint32_t> tokens, std::vector<uint32_t> sorted, uint32_t longest) {
    return Opened(CorpusBytes({.kind = CorpusKind::kSuffixArray,
                               .vocabulary = vocabulary,
                               .longest = longest,
                               .tokens = 1,
                               .first = tokens,
                               .second = sorted}),
                  CorpusKind::kSuffixArray);
  };
  const uint32_t end = static_cast<uint32_t>(kTextEnd);
  EXPECT_TRUE(suffix({1, end}, {0}, kSortedTokens).ok());
  ExpectRefused(suffix({1, end}, {0}, 7), absl::StatusCode::kDataLoss, "sorted by");
  ExpectRefused(suffix({3, end}, {0}, kSortedTokens), absl::StatusCode::kDataLoss, "token");
  ExpectRefused(suffix({1, end}, {1}, kSortedTokens), absl::StatusCode::kDataLoss, "place");
  ExpectRefused(suffix({1, end}, {2}, kSortedTokens), absl::StatusCode::kDataLoss, "place");
  const auto ngram = [&](std::vector<uint32_t> rows, std::vector<uint32_t> followers) {
    return Opened(CorpusBytes({.kind = CorpusKind::kNgram,
                               .vocabulary = vocabulary,
                               .longest = kMostWords,
                               .tokens = 1,
                               .first = rows,
                               .second = followers}),
                  CorpusKind::kNgram);
  };
  EXPECT_TRUE(ngram({end, end, end, 1, 5, 0}, {2, 3}).ok());
  ExpectRefused(ngram({end, end, end, 1, 5, 1}, {2, 3}), absl::StatusCode::kDataLoss, "n-gram 0");
  ExpectRefused(ngram({end, end, end, 1, 5, 0, end, end, end, 1, 5, 0}, {2, 3}), absl::StatusCode::kDataLoss,
                "n-gram 1");
  ExpectRefused(ngram({end, end, end, 1, 5, 0}, {3, 3}), absl::StatusCode::kDataLoss, "follower 0");
  ExpectRefused(ngram({end, end, end, 1, 5, 0}, {2}), absl::StatusCode::kDataLoss, "table");
}

}  // namespace
}  // namespace forerun
