// JSON with strict reading: an unknown key, a wrong type or a value out of range is one clear line, and
// nothing is ever silently defaulted or rewritten. The only place that includes nlohmann's header; no
// exception leaves it.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "nlohmann/json.hpp"

namespace forerun {

using Json = nlohmann::ordered_json;

// `where` names the source in messages ("experiments/configs/smoke.json").
absl::StatusOr<Json> ParseJson(absl::string_view text, absl::string_view where);
absl::StatusOr<Json> ReadJsonFile(absl::string_view path);

// The text of `json`, on one line where indent < 0. Bytes that are not UTF-8 become U+FFFD.
std::string DumpJson(const Json& json, int indent = -1);

// The entry of `choices` with the least edit distance to `word`; empty where none is near.
std::string Nearest(absl::string_view word, const std::vector<std::string>& choices);

// Reads the members of one object. The first error sticks; Finish() returns it, or names the first member
// nobody asked for together with the nearest name that somebody did ask for.
//
//   ObjectReader reader(json, "drafter");
//   const int k = reader.Int("num_speculative_tokens", 4, 0, 64);
//   FORERUN_RETURN_IF_ERROR(reader.Finish());
class ObjectReader {
 public:
  ObjectReader(const Json& object, absl::string_view where);

  bool Has(absl::string_view key);
  int64_t Int(absl::string_view key, int64_t otherwise, int64_t least, int64_t most);
  double Number(absl::string_view key, double otherwise, double least, double most);
  bool Bool(absl::string_view key, bool otherwise);
  std::string String(absl::string_view key, absl::string_view otherwise);
  std::string RequiredString(absl::string_view key);
  std::string Choice(absl::string_view key, absl::string_view otherwise,
                     const std::vector<std::string>& choices);
  std::vector<std::string> Strings(absl::string_view key);                        // empty where missing
  std::vector<double> Numbers(absl::string_view key, double least, double most);  // empty where missing
  std::vector<int> Ints(absl::string_view key, int least, int most);              // empty where missing
  const Json* Object(absl::string_view key);                                      // null where missing
  const Json* Array(absl::string_view key);                                       // null where missing
  void Fail(absl::string_view key,
            absl::string_view expected);  // records "<where>.<key>: expected ..., found ..."

  absl::Status Finish();

 private:
  const Json* Find(absl::string_view key);

  const Json& object_;
  std::string where_;
  std::vector<std::string> known_;
  absl::Status status_;
};

}  // namespace forerun
