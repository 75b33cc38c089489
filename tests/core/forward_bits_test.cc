// Row i of any batch has the bits of the same row alone: widths, chunks, trees, slots, threads, mixed
// batches. On the tiny pair from a bare clone, on the pinned models where they were fetched.
#include "tests/support/forward_bits.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "gtest/gtest.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

// Text-like ids: the oracle's own chunk of this model.
std::vector<TokenId> SomeTokens(const std::string& oracle, int count) {
  std::vector<TokenId> ids = ReadOracle(oracle)["cases"][0]["ids"].get<std::vector<TokenId>>();
  ids.resize(count);
  return ids;
}

void ExpectEverythingTheSame(Model& model, KvPool& pool, const std::vector<TokenId>& tokens,
                             const std::vector<std::vector<float>>& alone, int trees) {
  for (const int chunk : {7, 64, 512}) EXPECT_EQ(CompareChunks(model, pool, tokens, alone, chunk), "");
  EXPECT_EQ(CompareWidths(model, pool, tokens, alone, 30, 32), "");
  for (int i = 0; i < trees; ++i) {
    EXPECT_EQ(CompareRandomTree(model, pool, tokens, alone, 5 + 11 * (i % 4), 2 + 7 * (i % 5), i), "");
  }
  EXPECT_EQ(CompareMixedBatch(model, pool, tokens, alone), "");
  EXPECT_EQ(CompareAfterRejections(model, pool, std::span(tokens).first(40), alone, 3,
                                   [](BlockTable& table, int kept) { table.CommitFirst(kept); }),
            "");
}

TEST(ForwardBits, TinyTarget) {
  TestModel one(TinyTargetPath(), {}, 1);
  TestModel two(TinyTargetPath(), {}, 2);
  const std::vector<TokenId> tokens = SomeTokens("tiny-python-target-f16", 512);
  const auto alone = LogitsOneByOne(one.model(), *one.pool, tokens);
  ExpectEverythingTheSame(one.model(), *one.pool, tokens, alone, 10);
  ExpectEverythingTheSame(two.model(), *two.pool, tokens, alone, 10);
}

TEST(ForwardBits, TinyTargetExact) {
  const ModelOptions exact{Numerics::kF32, KvDtype::kF32};
  TestModel two(TinyTargetPath(), exact, 2);
  const std::vector<TokenId> tokens = SomeTokens("tiny-python-target-f16", 80);
  ExpectEverythingTheSame(two.model(), *two.pool, tokens, LogitsOneByOne(two.model(), *two.pool, tokens), 5);
}

// Every instruction set of one numerics gives the same bits.
TEST(ForwardBits, TinyTargetAcrossInstructionSets) {
  const std::vector<TokenId> tokens = SomeTokens("tiny-python-target-f16", 20);
  TestModel best(TinyTargetPath(), {}, 2);
  const auto alone = LogitsOneByOne(best.model(), *best.pool, tokens);
  for (const Isa isa : kAllIsas) {
    if (isa > DetectIsa()) {
      std::printf("not compared: this machine lacks %s\n", IsaName(isa));
      continue;
    }
    TestModel other(TinyTargetPath(), {}, 2, Kernels(isa));
    EXPECT_EQ(CompareChunks(other.model(), *other.pool, tokens, alone, 20), "") << IsaName(isa);
  }
}

// --- the checks can fail ---

// What rivals do: another order of summation once there are several rows.
void WidthDependentMatmul(const MatmulArgs& args, WorkRange range, Lane& lane) {
  MatmulF32Reference(args, range, lane);
  if (args.rows == 1) return;
  std::vector<float> weights(args.weights.columns);
  const std::size_t row_bytes = RowBytes(args.weights.type, args.weights.columns);
  std::vector<std::byte> rows(row_bytes * kPackedOutputs);
  const std::size_t group_bytes = PackedGroupBytes(args.weights.type, args.weights.columns);
  for (int64_t group = range.begin; group < range.end; ++group) {
    const int64_t first = group * kPackedOutputs;
    const int outputs = static_cast<int>(std::min<int64_t>(kPackedOutputs, args.weights.outputs - first));
    UnpackGroup(args.weights.type, args.weights.data + group * group_bytes, outputs, args.weights.columns,
                rows.data());
    for (int o = 0; o < outputs; ++o) {
      DequantizeRow(args.weights.type, rows.data() + o * row_bytes, args.weights.columns, weights.data());
      for (int64_t r = 0; r < args.rows; ++r) {
        const float* x = args.x + r * args.weights.columns;
        const int64_t half = args.weights.columns / 2;
        args.y[r * args.y_stride + first + o] =
            std::inner_product(x, x + half, weights.begin(), 0.0f) +
            std::inner_product(x + half, x + 2 * half, weights.begin() + half, 0.0f);
      }
    }
  }
}

TEST(ForwardBits, CatchesAWidthDependentReduction) {
  Kernels kernels(DetectIsa());
  kernels.matmul_f32 = WidthDependentMatmul;
  TestModel test(TinyTargetPath(), {}, 2, kernels);
  const std::vector<TokenId> tokens = SomeTokens("tiny-python-target-f16", 80);
  const auto alone = LogitsOneByOne(test.model(), *test.pool, tokens);
  EXPECT_NE(CompareWidths(test.model(), *test.pool, tokens, alone, 30, 2), "");
  EXPECT_NE(CompareChunks(test.model(), *test.pool, tokens, alone, 7), "");
}

TEST(ForwardBits, CatchesStaleKeysAfterARollback) {
  TestModel test(TinyTargetPath(), {}, 2);
  const std::vector<TokenId> tokens = SomeTokens("tiny-python-target-f16", 20);
  const auto alone = LogitsOneByOne(test.model(), *test.pool, tokens);
  EXPECT_NE(CompareAfterRejections(test.model(), *test.pool, tokens, alone, 3,
                                   [](BlockTable& table, int kept) { table.CommitFirst(kept + 1); }),
            "");
}

// --- the pinned models ---

class PinnedForwardBits : public testing::TestWithParam<std::string> {};

TEST_P(PinnedForwardBits, SlowRowsDoNotDependOnTheirNeighbours) {
  if (PinnedModelPath(GetParam()).empty()) GTEST_SKIP() << NotFetched(GetParam());
  // FORERUN_FULL=1: chunks of 512 filled to the brim; the default keeps CI short.
  const std::vector<TokenId> tokens =
      SomeTokens("long_" + GetParam(), std::getenv("FORERUN_FULL") != nullptr ? 512 : 72);
  std::vector<std::vector<float>> alone;
  for (const int threads : {1, 2}) {
    TestModel test(PinnedModelPath(GetParam()), {}, threads);
    if (alone.empty()) alone = LogitsOneByOne(test.model(), *test.pool, tokens);
    ExpectEverythingTheSame(test.model(), *test.pool, tokens, alone, 2);
  }
}

std::string TestName(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Models, PinnedForwardBits, testing::ValuesIn(PinnedModels()), TestName);

}  // namespace
}  // namespace forerun
