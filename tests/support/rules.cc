#include "tests/support/rules.h"

#include <map>
#include <memory>
#include <string>

#include "core/base/check.h"

namespace forerun {

const Verifier& Rule(absl::string_view name) {
  static std::map<std::string, std::unique_ptr<Verifier>>& rules =
      *new std::map<std::string, std::unique_ptr<Verifier>>;
  std::unique_ptr<Verifier>& rule = rules[std::string(name)];
  if (rule == nullptr) {
    absl::StatusOr<std::unique_ptr<Verifier>> made = MakeRule(std::string(name));
    FORERUN_CHECK(made.ok());
    rule = *std::move(made);
  }
  return *rule;
}

}  // namespace forerun
