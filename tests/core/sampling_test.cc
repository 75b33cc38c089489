#include "core/sampling/sampling.h"

#include <limits>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using testing::HasSubstr;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Validate, AcceptsTheDefaultsAndTheEdges) {
  EXPECT_TRUE(Validate({}, 10).ok());
  Sampling s = {.temperature = 2,
                .top_k = 1000,
                .top_p = 1e-6f,
                .min_p = 1,
                .repetition_penalty = 0.1f,
                .presence_penalty = -2,
                .frequency_penalty = 2};
  s.logit_bias = {{0, -100.0f}, {9, 100.0f}};
  EXPECT_TRUE(Validate(s, 10).ok());
}

TEST(Validate, NamesFieldValueAndRange) {
  const auto message = [](const Sampling& s) {
    const absl::Status status = Validate(s, 10);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
  };
  EXPECT_EQ(message({.temperature = -1}),
            "sampling: temperature is -1, allowed: 0 or a positive finite number");
  EXPECT_THAT(message({.temperature = kNan}), HasSubstr("temperature"));
  EXPECT_THAT(message({.temperature = kInfinity}), HasSubstr("temperature"));
  EXPECT_THAT(message({.top_k = -1}), HasSubstr("top_k is -1"));
  EXPECT_THAT(message({.top_p = 0}), HasSubstr("top_p is 0"));
  EXPECT_THAT(message({.top_p = 1.5f}), HasSubstr("top_p is 1.5"));
  EXPECT_THAT(message({.top_p = kNan}), HasSubstr("top_p"));
  EXPECT_THAT(message({.min_p = -0.5f}), HasSubstr("min_p is -0.5"));
  EXPECT_THAT(message({.repetition_penalty = 0}), HasSubstr("repetition_penalty is 0"));
  EXPECT_THAT(message({.presence_penalty = kInfinity}), HasSubstr("presence_penalty is inf"));
  EXPECT_THAT(message({.frequency_penalty = kNan}), HasSubstr("frequency_penalty is nan"));
  Sampling s;
  s.logit_bias = {{10, 1.0f}};
  EXPECT_THAT(message(s), HasSubstr("logit_bias token is 10, allowed: 0 to 9"));
  s.logit_bias = {{1, kNan}};
  EXPECT_THAT(message(s), HasSubstr("logit_bias of token 1 is nan"));
  s.logit_bias = {{1, 1.0f}, {1, 2.0f}};
  EXPECT_THAT(message(s), HasSubstr("each token once"));
}

}  // namespace
}  // namespace forerun
