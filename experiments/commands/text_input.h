// A text named on the command line: a file, or "-" for standard input.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace forerun {

absl::StatusOr<std::string> ReadTextInput(const std::string& name);

}  // namespace forerun
