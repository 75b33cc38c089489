// Tests of the whole program, in a folder of their own, with the tiny models.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace forerun {

class ProgramTest : public ::testing::Test {
 protected:
  static inline const std::string kRoot = FORERUN_SOURCE_DIR;
  static inline const std::string kConfig = kRoot + "/experiments/configs/smoke.json";
  static inline const std::string kTarget = kRoot + "/tests/data/tiny-python/tiny-python-target-f16.gguf";
  static inline const std::string kDraft = kRoot + "/tests/data/tiny-python/tiny-python-draft-f16.gguf";

  ProgramResult Run(const std::vector<std::string>& arguments, const ProgramLimits& limits = {}) {
    return RunForerun(arguments, folder_.path(), limits);
  }
  // One short prompt of the smoke experiment.
  ProgramResult RunSmoke(const std::vector<std::string>& more, const ProgramLimits& limits = {}) {
    std::vector<std::string> arguments = {"run", kConfig, "--limit", "1", "--set", "max_new_tokens=8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments, limits);
  }

  // One line, and it starts as every error does.
  static void ExpectOneLineError(const ProgramResult& result, int exit_code, const std::string& part) {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, ::testing::StartsWith("forerun: "));
    EXPECT_THAT(result.err, ::testing::HasSubstr(part));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }

  TemporaryFolder folder_{"program"};
};

}  // namespace forerun
