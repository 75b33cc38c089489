#include "core/base/json.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/base/status_macros.h"

namespace forerun {
namespace {

constexpr std::size_t kMaxDepth = 200;
constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;

// Looks for what the tree builder would pass over in silence or answer with an exception: the first syntax
// error, a key given twice, nesting that later recursion could not bear.
class SyntaxCheck final : public nlohmann::json_sax<Json> {
 public:
  const std::string& error() const { return error_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return Open(); }
  bool end_object() override { return Close(); }
  bool start_array(std::size_t) override { return Open(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    error_ = absl::StrCat("key \"", name, "\" appears twice in one object");
    return false;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) override {
    error_ = error.what();
    const std::size_t prefix = error_.find("] ");  // "[json.exception.parse_error.101] "
    if (error_.rfind('[', 0) == 0 && prefix != std::string::npos) error_.erase(0, prefix + 2);
    return false;
  }

 private:
  bool Open() {
    keys_.emplace_back();
    if (keys_.size() <= kMaxDepth) return true;
    error_ = absl::StrCat("nested more than ", kMaxDepth, " levels deep");
    return false;
  }
  bool Close() {
    keys_.pop_back();
    return true;
  }

  std::string error_;
  std::vector<std::set<std::string>> keys_;  // one set for every open object or array
};

// Insertions, deletions, substitutions and swaps of neighbours.
std::size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string Describe(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "an array";
  std::string text = DumpJson(value);
  if (text.size() > 60) text = absl::StrCat(text.substr(0, 57), "...");
  return text;
}

template <class Value>  // integers stay integers: every digit is printed
std::string Range(absl::string_view kind, Value least, Value most) {
  return absl::StrCat(kind, " from ", least, " to ", most);
}

}  // namespace

absl::StatusOr<Json> ParseJson(absl::string_view text, absl::string_view where) {
  SyntaxCheck check;
  if (!Json::sax_parse(text.begin(), text.end(), &check)) {
    return absl::InvalidArgumentError(absl::StrCat(where, ": ", check.error()));
  }
  return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
}

absl::StatusOr<Json> ReadJsonFile(absl::string_view path) {
  const std::string name(path);
  std::FILE* file = std::fopen(name.c_str(), "rb");
  if (file == nullptr)
    return absl::NotFoundError(absl::StrCat(name, ": cannot open: ", std::strerror(errno)));
  struct stat status;
  if (fstat(fileno(file), &status) == 0 && S_ISCHR(status.st_mode)) {
    std::fclose(file);
    return absl::InvalidArgumentError(absl::StrCat(name, ": expected a file, found a device"));
  }
  std::string text;
  char buffer[1 << 14];
  std::size_t got = 0;
  while ((got = std::fread(buffer, 1, sizeof buffer, file)) > 0 && text.size() <= kMaxFileBytes) {
    text.append(buffer, got);
  }
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  std::fclose(file);
  if (failed) return absl::NotFoundError(absl::StrCat(name, ": cannot read: ", std::strerror(error)));
  if (text.size() > kMaxFileBytes)
    return absl::InvalidArgumentError(absl::StrCat(name, ": larger than 256 MiB"));
  return ParseJson(text, name);
}

std::string DumpJson(const Json& json, int indent) {
  return json.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

std::string Nearest(absl::string_view word, const std::vector<std::string>& choices) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& choice : choices) {
    const std::size_t distance = EditDistance(word, choice);
    if (distance < best_distance && distance < choice.size()) {
      best = choice;
      best_distance = distance;
    }
  }
  return best;
}

ObjectReader::ObjectReader(const Json& object, absl::string_view where) : object_(object), where_(where) {
  if (object.is_object()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(where_.empty() ? "top level" : where_, ": expected an object, found ", Describe(object)));
}

const Json* ObjectReader::Find(absl::string_view key) {
  const std::string name(key);
  if (std::find(known_.begin(), known_.end(), name) == known_.end()) known_.push_back(name);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

bool ObjectReader::Has(absl::string_view key) { return Find(key) != nullptr; }

void ObjectReader::Fail(absl::string_view key, absl::string_view expected) {
  if (!status_.ok()) return;
  const auto found = object_.is_object() ? object_.find(std::string(key)) : object_.end();
  const bool missing = !object_.is_object() || found == object_.end();
  status_ =
      absl::InvalidArgumentError(absl::StrCat(where_, where_.empty() ? "" : ".", key, ": expected ", expected,
                                              ", found ", missing ? "nothing" : Describe(*found)));
}

int64_t ObjectReader::Int(absl::string_view key, int64_t otherwise, int64_t least, int64_t most) {
  const Json* value = Find(key);
  if (value == nullptr) return otherwise;
  constexpr uint64_t kLargest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const bool fits =
      value->is_number_unsigned() ? value->get<uint64_t>() <= kLargest : value->is_number_integer();
  if (fits && value->get<int64_t>() >= least && value->get<int64_t>() <= most) return value->get<int64_t>();
  Fail(key, Range("an integer", least, most));
  return otherwise;
}

double ObjectReader::Number(absl::string_view key, double otherwise, double least, double most) {
  const Json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_number() && value->get<double>() >= least && value->get<double>() <= most)
    return value->get<double>();
  Fail(key, Range("a number", least, most));
  return otherwise;
}

bool ObjectReader::Bool(absl::string_view key, bool otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  Fail(key, "true or false");
  return otherwise;
}

std::string ObjectReader::String(absl::string_view key, absl::string_view otherwise) {
  const Json* value = Find(key);
  if (value == nullptr) return std::string(otherwise);
  if (value->is_string()) return value->get<std::string>();
  Fail(key, "a string");
  return std::string(otherwise);
}

std::string ObjectReader::RequiredString(absl::string_view key) {
  const std::string text = String(key, "");
  if (text.empty()) Fail(key, "a string that is not empty");
  return text;
}

std::string ObjectReader::Choice(absl::string_view key, absl::string_view otherwise,
                                 const std::vector<std::string>& choices) {
  const Json* value = Find(key);
  if (value == nullptr) return std::string(otherwise);
  if (value->is_string()) {
    const std::string text = value->get<std::string>();
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) return text;
    const std::string nearest = Nearest(text, choices);
    if (!nearest.empty()) {
      Fail(key, absl::StrCat("one of ", absl::StrJoin(choices, ", "), " (nearest: ", nearest, ")"));
      return std::string(otherwise);
    }
  }
  Fail(key, absl::StrCat("one of ", absl::StrJoin(choices, ", ")));
  return std::string(otherwise);
}

std::vector<std::string> ObjectReader::Strings(absl::string_view key) {
  std::vector<std::string> strings;
  const Json* array = Array(key);
  if (array == nullptr) return strings;
  for (const Json& entry : *array) {
    if (!entry.is_string()) {
      Fail(key, absl::StrCat("an array of strings (one entry is ", Describe(entry), ")"));
      return {};
    }
    strings.push_back(entry.get<std::string>());
  }
  return strings;
}

std::vector<double> ObjectReader::Numbers(absl::string_view key, double least, double most) {
  std::vector<double> numbers;
  const Json* value = Find(key);
  if (value == nullptr) return numbers;
  bool good = value->is_array();
  for (const Json& element : good ? *value : Json::array()) {
    good = good && element.is_number() && element.get<double>() >= least && element.get<double>() <= most;
    if (good) numbers.push_back(element.get<double>());
  }
  if (!good) Fail(key, absl::StrCat("a list, each ", Range("a number", least, most)));
  return numbers;
}

std::vector<int> ObjectReader::Ints(absl::string_view key, int least, int most) {
  const std::vector<double> numbers = Numbers(key, least, most);
  std::vector<int> integers(numbers.begin(), numbers.end());
  if (!std::equal(integers.begin(), integers.end(), numbers.begin()))
    Fail(key, absl::StrCat("a list, each ", Range("an integer", least, most)));
  return integers;
}

const Json* ObjectReader::Object(absl::string_view key) {
  const Json* value = Find(key);
  if (value == nullptr || value->is_object()) return value;
  Fail(key, "an object");
  return nullptr;
}

const Json* ObjectReader::Array(absl::string_view key) {
  const Json* value = Find(key);
  if (value == nullptr || value->is_array()) return value;
  Fail(key, "an array");
  return nullptr;
}

absl::Status ObjectReader::Finish() {
  FORERUN_RETURN_IF_ERROR(status_);
  for (const auto& member : object_.items()) {
    if (std::find(known_.begin(), known_.end(), member.key()) != known_.end()) continue;
    const std::string nearest = Nearest(member.key(), known_);
    return absl::InvalidArgumentError(
        absl::StrCat(where_, where_.empty() ? "" : ".", member.key(), ": unknown key; ",
                     nearest.empty() ? absl::StrCat("known are ", absl::StrJoin(known_, ", "))
                                     : absl::StrCat("nearest is ", nearest)));
  }
  return absl::OkStatus();
}

}  // namespace forerun
