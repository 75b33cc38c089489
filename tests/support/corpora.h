// Small corpora of a ToyTokenizer's words.
#pragma once

#include <string>
#include <vector>

#include "drafters/lookup/ngram_counts.h"
#include "drafters/lookup/suffix_corpus.h"
#include "tests/support/toy_tokenizer.h"

namespace forerun {

// kTextEnd behind each text.
std::vector<TokenId> Joined(const std::vector<std::vector<TokenId>>& texts);

std::string SuffixBytes(const std::vector<TokenId>& tokens, const Tokenizer& tokenizer);
std::string NgramBytes(const std::vector<TokenId>& tokens, uint32_t min_count, const Tokenizer& tokenizer);

std::shared_ptr<const SuffixCorpus> MakeSuffixCorpus(const std::vector<TokenId>& tokens, int vocab_size);
std::shared_ptr<const NgramCorpus> MakeNgramCorpus(const std::vector<TokenId>& tokens, uint32_t min_count,
                                                   int vocab_size);

// Returns `path`.
std::string WriteBytes(const std::string& path, const std::string& bytes);

}  // namespace forerun
