#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>

#include "absl/strings/str_cat.h"
#include "core/base/damage.h"
#include "core/base/status_macros.h"
#include "core/engine/loaded_model.h"
#include "core/formats/gguf_file.h"
#include "drafters/lookup/ngram_counts.h"
#include "drafters/lookup/suffix_corpus.h"
#include "experiments/base/files.h"
#include "experiments/base/progress.h"
#include "experiments/commands/checks.h"
#include "experiments/commands/commands.h"
#include "experiments/texts/corpus_texts.h"

namespace forerun {
namespace {

struct Options {
  std::string model;
  std::string out;
  std::string kind = "suffix_array";
  int min_count = 2;
  std::vector<std::string> files;
};

constexpr char kNgramKind[] = "ngram";
constexpr char kSuffixKind[] = "suffix_array";

absl::StatusOr<std::unique_ptr<Tokenizer>> LoadTokenizer(const std::string& model) {
  FORERUN_ASSIGN_OR_RETURN(const std::string path, ResolveModelPath(model));
  FORERUN_ASSIGN_OR_RETURN(const GgufFile file, AsDamage(GgufFile::Open(path)));
  return AsDamage(Tokenizer::FromGguf(file));
}

// What is there already may only be an earlier corpus: a mistyped --out must not cost a text.
absl::Status CheckOutput(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return absl::OkStatus();
  if (std::filesystem::is_regular_file(status)) {
    std::string begin(sizeof kCorpusMagic - 1, '\0');
    std::ifstream(path, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
    if (begin == kCorpusMagic) return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--out: expected a new name, or a corpus to replace, found another file: ", path));
}

absl::Status Build(const Options& options, bool has_min_count) {
  FORERUN_RETURN_IF_ERROR(CheckOutput(options.out));
  if (has_min_count && options.kind != kNgramKind)
    return absl::InvalidArgumentError("--min-count: needs --kind ngram");
  FORERUN_ASSIGN_OR_RETURN(const std::unique_ptr<Tokenizer> tokenizer, LoadTokenizer(options.model));
  std::vector<std::string> texts;
  for (const std::string& path : options.files) {
    FORERUN_ASSIGN_OR_RETURN(const std::vector<std::string> more, ReadTexts(path));
    texts.insert(texts.end(), more.begin(), more.end());
  }
  ShareProgress encoding("tokens");
  FORERUN_ASSIGN_OR_RETURN(const std::vector<TokenId> tokens,
                           EncodeTexts(texts, *tokenizer, [&](double done) { encoding.Show(done); }));
  encoding.Finish();
  if (tokens.empty()) return absl::InvalidArgumentError("corpus: expected some text, found none");

  const bool ngram = options.kind == kNgramKind;
  ShareProgress sorting("sorting");
  const std::vector<uint32_t> sorted = SortSuffixes(
      tokens, ngram ? kMostWords + 1 : kSortedTokens,
      [&](int64_t done) { sorting.Show(static_cast<double>(done) / static_cast<double>(tokens.size())); });
  sorting.Finish();
  const VocabularyId vocabulary = VocabularyIdOf(*tokenizer);
  const std::string bytes =
      ngram ? NgramCorpusBytes(tokens, sorted, static_cast<uint32_t>(options.min_count), vocabulary)
            : SuffixCorpusBytes(tokens, sorted, vocabulary);
  FORERUN_RETURN_IF_ERROR(WriteFileAtomically(options.out, bytes));
  std::printf("%s: %s of %zu tokens in %zu texts, %zu bytes\n", options.out.c_str(), options.kind.c_str(),
              sorted.size(), texts.size(), bytes.size());
  return absl::OkStatus();
}

}  // namespace

Command AddCorpusCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("corpus", "Prepare texts for the drafters that look things up");
  command->require_subcommand(1);
  CLI::App* build = command->add_subcommand("build", "Write texts as one file for \"corpus\" of a drafter");
  auto options = std::make_shared<Options>();
  build->add_option("--model", options->model, "Whose words: a path or a name under models/")->required();
  build->add_option("--out", options->out, "The file to write")->required()->check(NotEmpty());
  build->add_option("--kind", options->kind, "suffix_array: for rest, suffix and sam; ngram: for ngram_cache")
      ->check(CLI::IsMember({kSuffixKind, kNgramKind}))
      ->capture_default_str();
  build->add_option("--min-count", options->min_count, "ngram: leave out what followed less often")
      ->check(IntegerFrom(1, 1 << 30))
      ->capture_default_str();
  build
      ->add_option("TEXTFILE", options->files,
                   "Text files, or .jsonl with \"text\", \"prompt\" or \"turns\" a line")
      ->required();
  build->footer(
      "Example:\n  forerun corpus build --model smollm2-135m-instruct-q4_1 --out code.corpus *.py\n"
      "  forerun generate --target smollm2-135m-instruct-q4_1 --drafter rest "
      "--drafter-options '{\"corpus\": \"code.corpus\"}' --prompt 'import os'");
  return {command, [options, build] { return Build(*options, build->count("--min-count") > 0); }};
}

}  // namespace forerun
