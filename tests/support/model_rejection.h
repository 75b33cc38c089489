// Says whether a model file is refused in the way that a user can act upon.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tests/support/random_model.h"

namespace forerun {

// A model of few weights, for tests that make hundreds of them.
RandomModelSpec SmallSpec(const std::string& architecture);
// What loading it says.
absl::Status LoadStatus(const std::string& path);

// Loading gives one InvalidArgument or NotFound line "<file>: <subject>...: expected ..., found ..." that
// contains `what`.
testing::AssertionResult IsRefused(const ModelParts& parts, absl::string_view subject,
                                   absl::string_view what = "");
testing::AssertionResult IsLoaded(const ModelParts& parts);

}  // namespace forerun
