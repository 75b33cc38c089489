#include "drafters/reading/shortlist_file.h"

#include "absl/strings/str_cat.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

bool IsId(const Json& json, int vocab_size) {
  return json.is_number_unsigned() && json.get<uint64_t>() < static_cast<uint64_t>(vocab_size);
}

}  // namespace

absl::StatusOr<std::vector<TokenId>> ReadShortlist(const Json& json, absl::string_view where,
                                                   int vocab_size) {
  ObjectReader reader(json, where);
  const int64_t found = reader.Int("vocab_size", 0, 1, int64_t{1} << 31);
  if (!reader.Has("vocab_size") || found != vocab_size)
    reader.Fail("vocab_size", absl::StrCat(vocab_size, " (the draft model's)"));
  const Json* ranges = reader.Array("ranges");
  if (ranges == nullptr || ranges->empty())
    reader.Fail("ranges", "[[first, last], ...] with at least one id");
  FORERUN_RETURN_IF_ERROR(reader.Finish());

  std::vector<TokenId> ids;
  for (std::size_t i = 0; i < ranges->size(); ++i) {
    const Json& range = (*ranges)[i];
    const bool is_pair = range.is_array() && range.size() == 2 && IsId(range[0], vocab_size) &&
                         IsId(range[1], vocab_size) && range[0] <= range[1];
    if (!is_pair || (!ids.empty() && range[0].get<TokenId>() <= ids.back())) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ".ranges.", i, ": expected [first, last], first <= last < ", vocab_size,
                       " and first above the range before, found ", DumpJson(range)));
    }
    for (TokenId id = range[0].get<TokenId>(); id <= range[1].get<TokenId>(); ++id) ids.push_back(id);
  }
  return ids;
}

absl::StatusOr<std::shared_ptr<const Shortlist>> ShortlistOption(ObjectReader& options, Model& model) {
  if (!options.Has("shortlist")) return std::shared_ptr<const Shortlist>();
  const std::string path = options.RequiredString("shortlist");
  FORERUN_ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  FORERUN_ASSIGN_OR_RETURN(std::vector<TokenId> ids, ReadShortlist(json, path, model.vocab_size()));
  return model.MakeShortlist(std::move(ids));
}

std::string ShortlistNote(const Shortlist* shortlist) {
  if (shortlist == nullptr) return "";
  return absl::StrCat("shortlist ", shortlist->ids.size(), " of ", shortlist->vocab_size);
}

}  // namespace forerun
