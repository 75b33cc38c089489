// Ceilings and floors: the arithmetic, and that the measured numbers hang together.
#include "experiments/bench/roofline.h"

#include "experiments/base/median.h"
#include "gtest/gtest.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

TEST(Floor, IsTheLongerOfReadingAndMultiplying) {
  const Floor floor = {.bytes = 2e9, .multiply_adds = 3e9};
  EXPECT_DOUBLE_EQ(floor.ms(/*read_gb_s=*/40, /*gmac_s=*/200), 50);
  EXPECT_DOUBLE_EQ(floor.ms(/*read_gb_s=*/400, /*gmac_s=*/100), 30);
  EXPECT_DOUBLE_EQ(floor.gb_s(100), 20);
  EXPECT_DOUBLE_EQ(floor.gmac_s(100), 30);
}

TEST(Floor, WeightsCountOnceAndRowsEach) {
  const std::vector<ModelMatrix> matrices = {{TensorType::kQ4_K, 16, 256, true},
                                             {TensorType::kF32, 17, 10, false}};
  const Floor floor = FloorOf(matrices, 3);
  EXPECT_EQ(floor.multiply_adds, 3 * (16 * 256 + 17 * 10));
  EXPECT_EQ(floor.bytes, 256 + 256 * 16 / 2 + 2 * 16 * 10 * 4);  // scales, nibbles; a padded second group
}

TEST(Median, IsTheMiddleOneOrTheMeanOfTwo) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({5, 1, 3}), 3);
  EXPECT_EQ(Median({5, 1, 3, 2}), 2.5);
}

TEST(Roofline, TheMeanOverMatricesIsHarmonic) {
  ThreadPool threads(2);
  Roofline roofline(DetectIsa(), threads);
  EXPECT_GT(roofline.median_read_gb_s(), 0);
  EXPECT_LE(roofline.median_read_gb_s(), roofline.read_gb_s());
  const ModelMatrix a8 = {TensorType::kQ4_K, 64, 256, true}, f32 = {TensorType::kQ4_K, 32, 256, false};
  EXPECT_EQ(roofline.gmac_s(f32), roofline.fma_gmac_s());
  const double expected = 3 / (2 / roofline.gmac_s(a8) + 1 / roofline.gmac_s(f32));
  EXPECT_NEAR(roofline.gmac_s(std::vector<ModelMatrix>{a8, f32}), expected, 1e-9 * expected);
  const double before = roofline.gmac_s(a8);
  roofline.Refresh();
  EXPECT_GE(roofline.gmac_s(a8), before);  // the best counts
}

// The model says what it multiplies by, and its own counter agrees.
TEST(Matrices, AreWhatAForwardReads) {
  for (const Numerics numerics : {Numerics::kA8, Numerics::kF32}) {
    TestModel model(TinyTargetPath(), {.numerics = numerics}, /*threads=*/2);
    const std::vector<ModelMatrix> matrices = model.loaded.model->matrices();
    BlockTable table(*model.pool, model.model().kv_layout_id());
    ASSERT_TRUE(table.Reserve(2).ok());
    ForwardBatch batch;
    batch.segments.push_back({.table = &table, .num_rows = 2});
    for (int row = 0; row < 2; ++row) {
      batch.rows.push_back({.token = 5, .parent = row - 1, .wanted = WantedOutput::kArgmax});
    }
    const int64_t before = model.model().counters().weight_bytes_read;
    ASSERT_TRUE(model.model().Forward(batch).ok());
    EXPECT_EQ(FloorOf(matrices, 2).bytes, model.model().counters().weight_bytes_read - before);
  }
}

}  // namespace
}  // namespace forerun
