#include "core/tokenizer/merge_table.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr char kMergesKey[] = "tokenizer.ggml.merges";

absl::Status BadMerge(const GgufFile& file, int rank, absl::string_view merge, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(file.path(), ": ", kMergesKey, ": merge ", rank, " \"",
                                                 absl::CHexEscape(merge), "\": ", what));
}

}  // namespace

absl::StatusOr<MergeTable> MergeTable::FromGguf(const GgufFile& file, const Vocabulary& vocabulary) {
  FORERUN_ASSIGN_OR_RETURN(const std::vector<absl::string_view> merges, file.GetStrings(kMergesKey));
  MergeTable table;
  table.merges_.reserve(merges.size());
  std::string joined;
  int32_t rank = 0;
  for (absl::string_view merge : merges) {
    const std::size_t space = merge.find(' ', 1);
    if (space == absl::string_view::npos)
      return BadMerge(file, rank, merge, "expected two tokens with a space between");
    const absl::string_view left = merge.substr(0, space), right = merge.substr(space + 1);
    joined.assign(left.data(), left.size()).append(right.data(), right.size());
    const TokenId left_token = vocabulary.Find(left), right_token = vocabulary.Find(right);
    const TokenId joined_token = vocabulary.Find(joined);
    for (const auto& [text, token] : {std::pair<absl::string_view, TokenId>(left, left_token),
                                      {right, right_token},
                                      {joined, joined_token}}) {
      if (token >= 0) continue;
      return BadMerge(
          file, rank, merge,
          absl::StrCat("expected tokens of the vocabulary, found \"", absl::CHexEscape(text), "\""));
    }
    table.merges_.try_emplace(Key(left_token, right_token), Merge{rank++, joined_token});
  }
  return table;
}

}  // namespace forerun
