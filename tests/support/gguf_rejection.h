// Says whether bytes are refused as a GGUF file in the way that a user can act upon.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace forerun {

// One InvalidArgument line "<file>: ... at offset <n>: expected ..., found ..." that contains `part`.
::testing::AssertionResult IsOneGoodLine(const absl::Status& status, absl::string_view file,
                                         absl::string_view part);
::testing::AssertionResult IsRejected(const std::string& bytes, absl::string_view part);
::testing::AssertionResult IsAccepted(const std::string& bytes);

}  // namespace forerun
