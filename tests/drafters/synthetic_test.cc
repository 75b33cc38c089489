#include "core/model/table_model.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"

namespace forerun {
namespace {

class SyntheticTest : public testing::Test {
 protected:
  std::vector<RequestResult> Write(const char* options, const char* rule, const Sampling& sampling) {
    const auto drafter = MakeDrafterOrDie(options, {.target = &target_, .pool = pool_.get()});
    Request request;
    request.prompt = {1, 3};
    request.drafter = drafter.get();
    request.verifier = &Rule(rule);
    request.num_speculative_tokens = 3;
    request.sampling = sampling;
    request.max_new_tokens = 40;
    return CompleteMany(target_, *pool_, request, 200, {.max_sequences = 32});
  }
  // Of the words that were drafted first, the part that stood.
  double Accepted(const char* options, const char* rule, const Sampling& sampling) {
    int64_t drafted = 0, accepted = 0;
    for (const RequestResult& result : Write(options, rule, sampling)) {
      drafted += result.drafted;
      accepted += result.accepted;
    }
    return static_cast<double>(accepted) / static_cast<double>(drafted);
  }

  std::unique_ptr<KvPool> pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  TableModel target_{*pool_, ContextTable::Random(8, 2, 5)};
};

constexpr Sampling kCold = {}, kWarm = {.temperature = 1, .seed = 7};

// 200 texts have some 3,000 rounds: the share of accepted words is known to 0.01; the ends of texts add as
// much.
TEST_F(SyntheticTest, IsRightAsOftenAsAsked) {
  constexpr char kHalf[] = R"({"type": "synthetic", "synthetic": {"acceptance": [0.5]}})";
  const double expected = (0.5 + 0.25 + 0.125) / 3;
  EXPECT_NEAR(Accepted(kHalf, "greedy", kCold), expected, 0.03);
  EXPECT_NEAR(Accepted(kHalf, "exact_match", kWarm), expected, 0.03);
  EXPECT_LT(Accepted(kHalf, "rejection", kWarm), expected - 0.05) << "judged as point masses";
}

TEST_F(SyntheticTest, EachDepthHasItsOwnChance) {
  EXPECT_NEAR(Accepted(R"({"type": "synthetic", "synthetic": {"acceptance": [1, 0]}})", "exact_match", kWarm),
              1.0 / 3, 0.03);
  EXPECT_EQ(Accepted(R"({"type": "synthetic", "synthetic": {"acceptance": [0]}})", "greedy", kCold), 0);
  EXPECT_EQ(Accepted(R"({"type": "synthetic", "synthetic": {"acceptance": [1]}})", "greedy", kCold), 1);
}

TEST_F(SyntheticTest, RefusesChancesThatAreNone) {
  for (const char* wrong : {"[]", "[1.5]", "[\"a\"]", "0.5"}) {
    const std::string options =
        std::string(R"({"type": "synthetic", "synthetic": {"acceptance": )") + wrong + "}}";
    const auto made = MakeDrafter(*ParseJson(options, "test"), {.target = &target_, .pool = pool_.get()});
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(std::string(made.status().message()),
                testing::HasSubstr("drafter.synthetic.acceptance: expected"));
  }
}

}  // namespace
}  // namespace forerun
