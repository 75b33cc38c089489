// The form of the line is the contract of core/formats/gguf_file.h.
#include "tests/support/gguf_rejection.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/formats/gguf_file.h"
#include "tests/support/gguf_builder.h"

namespace forerun {

::testing::AssertionResult IsOneGoodLine(const absl::Status& status, absl::string_view file,
                                         absl::string_view part) {
  const absl::string_view line = status.message();
  const bool is_good = absl::IsInvalidArgument(status) && !absl::StrContains(line, '\n') &&
                       absl::StartsWith(line, absl::StrCat(file, ": ")) &&
                       absl::StrContains(line, " at offset ") && absl::StrContains(line, ": expected ") &&
                       absl::StrContains(line, ", found ") && absl::StrContains(line, part);
  if (is_good) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "wanted a line with \"" << part << "\", have " << status;
}

::testing::AssertionResult IsRejected(const std::string& bytes, absl::string_view part) {
  return IsOneGoodLine(GgufFile::FromBytes("bad.gguf", AsBytes(bytes)).status(), "bad.gguf", part);
}

::testing::AssertionResult IsAccepted(const std::string& bytes) {
  const absl::Status status = GgufFile::FromBytes("good.gguf", AsBytes(bytes)).status();
  if (status.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << status;
}

}  // namespace forerun
