#include "tests/support/corpora.h"

#include <fstream>

#include "core/base/check.h"

namespace forerun {
namespace {

std::vector<uint32_t> Sorted(const std::vector<TokenId>& tokens) {
  return SortSuffixes(tokens, kSortedTokens, [](int64_t) {});
}

}  // namespace

std::vector<TokenId> Joined(const std::vector<std::vector<TokenId>>& texts) {
  std::vector<TokenId> tokens;
  for (const std::vector<TokenId>& text : texts) {
    tokens.insert(tokens.end(), text.begin(), text.end());
    tokens.push_back(kTextEnd);
  }
  return tokens;
}

std::string SuffixBytes(const std::vector<TokenId>& tokens, const Tokenizer& tokenizer) {
  return SuffixCorpusBytes(tokens, Sorted(tokens), VocabularyIdOf(tokenizer));
}

std::string NgramBytes(const std::vector<TokenId>& tokens, uint32_t min_count, const Tokenizer& tokenizer) {
  return NgramCorpusBytes(tokens, Sorted(tokens), min_count, VocabularyIdOf(tokenizer));
}

std::shared_ptr<const SuffixCorpus> MakeSuffixCorpus(const std::vector<TokenId>& tokens, int vocab_size) {
  const ToyTokenizer tokenizer(vocab_size);
  auto file = CorpusFile::FromBytes(SuffixBytes(tokens, tokenizer), CorpusKind::kSuffixArray,
                                    VocabularyIdOf(tokenizer));
  FORERUN_CHECK(file.ok());
  auto corpus = SuffixCorpus::Make(*std::move(file));
  FORERUN_CHECK(corpus.ok());
  return *corpus;
}

std::shared_ptr<const NgramCorpus> MakeNgramCorpus(const std::vector<TokenId>& tokens, uint32_t min_count,
                                                   int vocab_size) {
  const ToyTokenizer tokenizer(vocab_size);
  auto file = CorpusFile::FromBytes(NgramBytes(tokens, min_count, tokenizer), CorpusKind::kNgram,
                                    VocabularyIdOf(tokenizer));
  FORERUN_CHECK(file.ok());
  auto corpus = NgramCorpus::Make(*std::move(file));
  FORERUN_CHECK(corpus.ok());
  return *corpus;
}

std::string WriteBytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace forerun
