#include "kernels/matmul/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/quantize_rows/quantize_rows.h"
#include "tests/support/variant_test.h"
#include "tests/support/weights.h"

namespace forerun {
namespace {

constexpr int64_t kMaxRows = 100;
constexpr float kUntouched = -12345.0f;

// One matrix, kMaxRows activations, and what the reference makes of them.
struct Problem {
  Problem(TensorType type, int64_t outputs, int64_t columns, bool extreme, KernelFn<MatmulArgs> reference)
      : random(static_cast<uint32_t>(outputs * 1000 + columns)),
        weights(type, outputs, columns, RandomWeights(type, outputs, columns, extreme, random)),
        x(kMaxRows * columns),
        codes(x.size()),
        scales(kMaxRows * (columns / 32)),
        sums(2 * scales.size()),
        bias(outputs) {
    std::normal_distribution<float> normal;
    for (float& value : x) value = normal(random);
    for (float& value : bias) value = normal(random);
    std::fill_n(x.begin() + columns, columns, 0.0f);  // row 1 is zero
    Lane lane;
    if (columns % 32 == 0) {
      QuantizeRowsReference({x.data(), columns, codes.data(), scales.data(), sums.data()}, {0, kMaxRows},
                            lane);
    }
    expected = Run(reference, 0, kMaxRows, true);
  }

  // Rows [first, first + rows); the groups are handed out in runs of uneven length.
  std::vector<float> Run(KernelFn<MatmulArgs> fn, int64_t first, int64_t rows, bool with_bias) {
    const PackedMatrix& w = weights.matrix();
    const int64_t stride = w.outputs + 3;
    std::vector<float> y(rows * stride, kUntouched);
    MatmulArgs args{.weights = w,
                    .rows = rows,
                    .x = x.data() + first * w.columns,
                    .codes = codes.data() + first * w.columns,
                    .scales = scales.data() + first * (w.columns / 32),
                    .sums = sums.data() + first * (w.columns / 16),
                    .bias = with_bias ? bias.data() : nullptr,
                    .y = y.data(),
                    .y_stride = stride};
    Lane lane;
    const int64_t groups = PackedGroups(w.outputs);
    for (int64_t begin = 0, run = 1; begin < groups; begin += run, run = 3 - run) {
      fn(args, {begin, std::min(begin + run, groups)}, lane);
    }
    return y;
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
  std::vector<float> x;
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums;
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
