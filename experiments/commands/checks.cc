#include "experiments/commands/checks.h"

#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace forerun {
namespace {

std::string Refusal(const std::string& expected, const std::string& found) {
  return absl::StrCat("expected ", expected, ", found \"", found, "\"");
}

}  // namespace

CLI::Validator IntegerFrom(int64_t least, int64_t most) {
  const std::string range = absl::StrCat("from ", least, " to ", most);
  const auto check = [least, most, range](std::string& text) {
    int64_t value = 0;
    const bool fits = absl::SimpleAtoi(text, &value) && value >= least && value <= most;
    return fits ? std::string() : Refusal("an integer " + range, text);
  };
  return CLI::Validator(check, range);
}

CLI::Validator MoreThanZeroUpTo(double most) {
  const std::string range = absl::StrCat("more than 0, at most ", most);
  const auto check = [most, range](std::string& text) {
    double value = 0;
    const bool fits = absl::SimpleAtod(text, &value) && value > 0 && value <= most;
    return fits ? std::string() : Refusal("a number " + range, text);
  };
  return CLI::Validator(check, range);
}

CLI::Validator NotEmpty() {
  return CLI::Validator(
      [](std::string& text) { return text.empty() ? Refusal("something", text) : std::string(); }, "");
}

}  // namespace forerun
