#include "kernels/matmul/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "kernels/cases/activations.h"
#include "kernels/cases/weights.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

constexpr int64_t kMaxRows = 100;
constexpr float kUntouched = -12345.0f;

std::vector<float> NormalFloats(int64_t count, std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// Normal, but row 1 is zero.
Activations TestActivations(int64_t columns, std::mt19937& random) {
  std::vector<float> x = NormalFloats(kMaxRows * columns, random);
  std::fill_n(x.begin() + columns, columns, 0.0f);
  return Activations(std::move(x), columns);
}

// One matrix, kMaxRows activations, and what the reference makes of them.
struct Problem {
  Problem(TensorType type, int64_t outputs, int64_t columns, bool extreme, KernelFn<MatmulArgs> reference)
      : random(static_cast<uint32_t>(outputs * 1000 + columns)),
        weights(type, outputs, columns, RandomWeights(type, outputs, columns, extreme, random)),
        activations(TestActivations(columns, random)),
        bias(NormalFloats(outputs, random)),
        expected(Run(reference, 0, kMaxRows, true)) {}

  // Rows [first, first + rows); the groups are handed out in runs of uneven length.
  std::vector<float> Run(KernelFn<MatmulArgs> fn, int64_t first, int64_t rows, bool with_bias,
                         const std::byte* arranged = nullptr, bool add = false) {
    const PackedMatrix& w = weights.matrix();
    const int64_t stride = w.outputs + 3;
    std::vector<float> y(rows * stride, kUntouched);
    MatmulArgs args = activations.Rows(first, rows);
    args.weights = w;
    args.bias = with_bias ? bias.data() : nullptr;
    args.y = y.data();
    args.y_stride = stride;
    args.arranged = arranged;
    args.add = add;
    Lane lane;
    const int64_t groups = PackedGroups(w.outputs);
    for (int64_t begin = 0, run = 1; begin < groups; begin += run, run = 3 - run) {
      fn(args, {begin, std::min(begin + run, groups)}, lane);
    }
    return y;
  }

  // Rows [0, rows) laid out by `fn`, a few rows and blocks at a time, the last first.
  std::vector<std::byte> Arrange(KernelFn<ArrangeArgs> fn, int64_t rows) {
    const PackedMatrix& w = weights.matrix();
    const MatmulArgs input = activations.Rows(0, rows);
    std::vector<std::byte> arranged(ArrangedBytes(rows, w.columns));
    const int64_t blocks = w.columns / 32;
    Lane lane;
    for (int64_t first = (blocks - 1) / 2 * 2; first >= 0; first -= 2) {
      const ArrangeArgs args{.type = w.type,
                             .rows = rows,
                             .columns = w.columns,
                             .first_block = first,
                             .blocks = std::min<int64_t>(2, blocks - first),
                             .codes = input.codes,
                             .scales = input.scales,
                             .sums = input.sums,
                             .arranged = arranged.data()};
      for (int64_t row = rows; row > 0; row -= 3) fn(args, {std::max<int64_t>(0, row - 3), row}, lane);
    }
    return arranged;
  }

  // The first `rows` rows of `expected`, as a batch and (if `alone`) each on its own.
  testing::AssertionResult Agrees(KernelFn<MatmulArgs> fn, int64_t rows, bool alone) {
    const std::size_t stride = weights.matrix().outputs + 3;
    const std::vector<float> batch = Run(fn, 0, rows, true);
    for (int64_t row = 0; row < rows; ++row) {
      if (std::memcmp(&batch[row * stride], &expected[row * stride], stride * sizeof(float)) != 0) {
        return testing::AssertionFailure()
               << "row " << row << " of " << rows << " differs from the reference";
      }
      if (!alone) continue;
      const std::vector<float> single = Run(fn, row, 1, true);
      if (std::memcmp(single.data(), &batch[row * stride], stride * sizeof(float)) != 0) {
        return testing::AssertionFailure() << "row " << row << " of " << rows << " differs from itself alone";
      }
    }
    return testing::AssertionSuccess();
  }

  std::mt19937 random;
  PackedWeights weights;
  Activations activations;
  std::vector<float> bias;
  std::vector<float> expected;  // with bias
};

void CheckShapes(TensorType type, KernelFn<MatmulArgs> reference, KernelFn<MatmulArgs> fn,
                 const std::vector<int64_t>& columns) {
  for (bool extreme : {false, true}) {
    for (int64_t outputs : {1, 15, 16, 17, 40}) {
      for (int64_t k : columns) {
        SCOPED_TRACE(testing::Message() << Info(type).name << " [" << outputs << ", " << k << "]");
        Problem problem(type, outputs, k, extreme, reference);
        EXPECT_TRUE(problem.Agrees(fn, 5, true));
        if (outputs != 40) continue;
        for (int64_t rows = 1; rows <= 33; ++rows) EXPECT_TRUE(problem.Agrees(fn, rows, false));
        for (int64_t rows : {64, 100}) EXPECT_TRUE(problem.Agrees(fn, rows, false));
      }
    }
  }
}

class MatmulTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(MatmulTest);

TEST_P(MatmulTest, A8EqualsTheReferenceBitForBit) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  for (TensorType type : kAllTensorTypes) {
    const int64_t unit = std::max(Info(type).block_columns, 32);
    CheckShapes(type, MatmulA8Reference, kMatmulA8.For(GetParam()), {unit, 3 * unit, 4 * unit});
  }
}

TEST_P(MatmulTest, F32EqualsTheReferenceBitForBit) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  for (TensorType type : kAllTensorTypes) {
    const int64_t unit = std::max(Info(type).block_columns, 32);
    CheckShapes(type, MatmulF32Reference, kMatmulF32.For(GetParam()), {unit, 3 * unit});
  }
  for (TensorType type : {TensorType::kF32, TensorType::kF16, TensorType::kBF16}) {
    CheckShapes(type, MatmulF32Reference, kMatmulF32.For(GetParam()), {1, 77, 300});
  }
}

TEST_P(MatmulTest, BiasIsOptional) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  Problem problem(TensorType::kQ4_K, 24, 256, false, MatmulA8Reference);
  EXPECT_EQ(problem.Run(kMatmulA8.For(GetParam()), 0, 3, false), problem.Run(MatmulA8Reference, 0, 3, false));
  EXPECT_NE(problem.Run(kMatmulA8.For(GetParam()), 0, 3, false), problem.Run(MatmulA8Reference, 0, 3, true));
}

TEST_P(MatmulTest, ArrangedRowsGiveTheSameBits) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  for (TensorType type : kAllTensorTypes) {
    if (IsFloat(type)) continue;
    Problem problem(type, 40, 3 * std::max(Info(type).block_columns, 32), false, MatmulA8Reference);
    for (const int64_t rows : {1, 3, 8, 16, 17, 40, 100}) {
      const std::vector<std::byte> arranged = problem.Arrange(kArrange.For(GetParam()), rows);
      EXPECT_EQ(problem.Run(kMatmulA8.For(GetParam()), 0, rows, true, arranged.data()),
                problem.Run(MatmulA8Reference, 0, rows, true))
          << Info(type).name << ", " << rows << " rows";
    }
  }
}

// y + (product + bias), each sum rounded: not the same as the product started from y.
TEST_P(MatmulTest, AddsToWhatIsThere) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  for (const int64_t outputs : {40, 32}) {
    for (const bool bias : {false, true}) {
      Problem a8(TensorType::kQ6_K, outputs, 256, false, MatmulA8Reference);
      Problem f32(TensorType::kF16, outputs, 256, false, MatmulF32Reference);
      const std::vector<float> a8_sum = a8.Run(kMatmulA8.For(GetParam()), 0, 5, bias, nullptr, true);
      const std::vector<float> f32_sum = f32.Run(kMatmulF32.For(GetParam()), 0, 5, bias, nullptr, true);
      const std::vector<float> a8_product = a8.Run(MatmulA8Reference, 0, 5, bias);
      const std::vector<float> f32_product = f32.Run(MatmulF32Reference, 0, 5, bias);
      for (std::size_t i = 0; i < a8_sum.size(); ++i) {
        const bool written = static_cast<int64_t>(i) % (outputs + 3) < outputs;
        ASSERT_EQ(a8_sum[i], written ? kUntouched + a8_product[i] : kUntouched) << i;
        ASSERT_EQ(f32_sum[i], written ? kUntouched + f32_product[i] : kUntouched) << i;
      }
    }
  }
}

// The a8 numerics approximate the plain product: an error that the reference and the kernels share would show
// here.
TEST(Matmul, A8IsCloseToTheProductOfDequantisedWeights) {
  for (TensorType type : kAllTensorTypes) {
    Problem problem(type, 40, 768, false, MatmulA8Reference);
    const std::vector<float> exact = problem.Run(MatmulF32Reference, 0, kMaxRows, true);
    double error = 0.0, size = 0.0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      error += std::pow(exact[i] - problem.expected[i], 2);
      if (exact[i] != kUntouched) size += std::pow(exact[i], 2);
    }
    EXPECT_LT(std::sqrt(error / size), 0.02) << Info(type).name;
  }
}

// Splits the columns in two when there is more than one row: a result that depends on the batch's width.
void WidthDependent(const MatmulArgs& args, WorkRange range, Lane& lane) {
  if (args.rows == 1) return MatmulF32Reference(args, range, lane);
  for (int64_t output = range.begin * 16; output < std::min(range.end * 16, args.weights.outputs); ++output) {
    const auto* w = reinterpret_cast<const float*>(args.weights.data) +
                    output / 16 * 16 * args.weights.columns + output % 16;
    for (int64_t row = 0; row < args.rows; ++row) {
      const float* x = args.x + row * args.weights.columns;
      float half[2] = {0.0f, 0.0f};
      for (int64_t c = 0; c < args.weights.columns; ++c) {
        float& acc = half[2 * c / args.weights.columns];
        acc = std::fma(w[16 * c], x[c], acc);
      }
      args.y[row * args.y_stride + output] = half[0] + half[1] + args.bias[output];
    }
  }
}

TEST(Matmul, TheseTestsCatchAWidthDependentSum) {
  Problem problem(TensorType::kF32, 40, 300, false, MatmulF32Reference);
  EXPECT_TRUE(problem.Agrees(MatmulF32Reference, 5, true));
  EXPECT_TRUE(problem.Agrees(WidthDependent, 1, true));
  EXPECT_FALSE(problem.Agrees(WidthDependent, 5, true));
}

}  // namespace
}  // namespace forerun
