// A program that another one asks: one JSON line in, one out.
#pragma once

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/json.h"

namespace forerun {

// Prints `about`, then answers each line of standard input until it ends; an error becomes {"error": ...}.
void AnswerJsonLines(const Json& about,
                     const std::function<absl::StatusOr<Json>(const std::string& line)>& answer);

}  // namespace forerun
