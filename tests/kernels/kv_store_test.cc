#include "kernels/kv/kv_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/formats/tensor_type.h"
#include "tests/support/float_data.h"
#include "tests/support/variant_test.h"

namespace forerun {
namespace {

constexpr std::byte kUntouched{0xa5};

struct Store {
  KvLayerView layer;
  std::size_t block_bytes = 0;
  std::vector<std::byte> memory;

  Store(KvDtype dtype, int kv_heads, int head_size, int blocks) : layer{dtype, kv_heads, head_size, 128} {
    block_bytes = 128 + layer.bytes() + 64;  // other layers lie before and after
    memory.assign(block_bytes * blocks, kUntouched);
  }
  KvSlot Slot(int block, int offset) { return {memory.data() + block * block_bytes, offset}; }
  float Read(std::size_t element) const {
    const std::byte* const at = memory.data() + 128 + element * KvElementBytes(layer.dtype);
    if (layer.dtype == KvDtype::kF32) {
      float value;
      std::memcpy(&value, at, sizeof(value));
      return value;
    }
    uint16_t half;
    std::memcpy(&half, at, sizeof(half));
    return HalfToFloat(half);
  }
};

class KvStoreTest : public testing::TestWithParam<Isa> {};
FORERUN_FOR_EACH_ISA(KvStoreTest);

TEST_P(KvStoreTest, EqualsTheReferenceByteForByte) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  for (const KvDtype dtype : {KvDtype::kF16, KvDtype::kF32}) {
    for (const int head_size : {16, 64, 80, 96, 128, 256}) {
      for (const int kv_heads : {1, 3}) {
        Store expected(dtype, kv_heads, head_size, 3), actual(dtype, kv_heads, head_size, 3);
        const int64_t stride = kv_heads * head_size + 3;
        std::vector<float> keys = RandomFloats(head_size, 4 * stride, -9, 9);
        std::vector<float> values = RandomFloats(head_size + 1, 4 * stride, -9, 9);
        keys[0] = 65519, keys[1] = 65520, keys[2] = 1e-7f, keys[3] = -0.0f, values[4] = 1e-40f;
        values[5] = 1 + 0x1p-11f, values[6] = 1 + 0x1.8p-10f, values[7] = -1e9f;
        const auto slots = [](Store& store) {
          return std::vector<KvSlot>{store.Slot(1, 15), store.Slot(0, 0), store.Slot(2, 7),
                                     store.Slot(1, 14)};
        };
        const std::vector<KvSlot> expected_slots = slots(expected), actual_slots = slots(actual);
        Lane lane;
        KvStoreReference({expected.layer, keys.data(), values.data(), stride, expected_slots.data()}, {0, 4},
                         lane);
        const KvStoreArgs args{actual.layer, keys.data(), values.data(), stride, actual_slots.data()};
        kKvStore.For(GetParam())(args, {2, 4}, lane);
        kKvStore.For(GetParam())(args, {0, 2}, lane);
        ASSERT_EQ(expected.memory, actual.memory) << head_size << " x " << kv_heads;
      }
    }
  }
}

// Keys and values of one head at a time give what all at once give.
TEST_P(KvStoreTest, HeadsMayComeOneByOne) {
  FORERUN_SKIP_UNLESS_SUPPORTED(GetParam());
  Store expected(KvDtype::kF16, 3, 64, 1), actual(KvDtype::kF16, 3, 64, 1);
  const std::vector<float> keys = RandomFloats(1, 2 * 192), values = RandomFloats(2, 2 * 192);
  const std::vector<KvSlot> expected_slots = {expected.Slot(0, 3), expected.Slot(0, 4)};
  const std::vector<KvSlot> actual_slots = {actual.Slot(0, 3), actual.Slot(0, 4)};
  Lane lane;
  KvStoreReference({expected.layer, keys.data(), values.data(), 192, expected_slots.data()}, {0, 2}, lane);
  for (const int head : {2, 0, 1}) {
    KvStoreArgs args{.layer = actual.layer,
                     .row_stride = 192,
                     .slots = actual_slots.data(),
                     .first_head = head,
                     .heads = 1};
    args.values = values.data();
    kKvStore.For(GetParam())(args, {0, 2}, lane);
    args.values = nullptr;
    args.keys = keys.data();
    kKvStore.For(GetParam())(args, {0, 2}, lane);
  }
  EXPECT_EQ(expected.memory, actual.memory);
}

TEST(KvStoreReferenceTest, KeysAreTransposedValuesAreNot) {
  constexpr int kHeads = 2, kSize = 16, kOffset = 5;
  Store store(KvDtype::kF32, kHeads, kSize, 1);
  const std::vector<float> keys = RandomFloats(1, kHeads * kSize), values = RandomFloats(2, kHeads * kSize);
  const KvSlot slot = store.Slot(0, kOffset);
  Lane lane;
  KvStoreReference({store.layer, keys.data(), values.data(), kHeads * kSize, &slot}, {0, 1}, lane);
  for (int head = 0; head < kHeads; ++head) {
    for (int d = 0; d < kSize; ++d) {
      const std::size_t key = (head * kSize + d) * 16 + kOffset;
      const std::size_t value = kHeads * kSize * 16 + (head * 16 + kOffset) * kSize + d;
      EXPECT_EQ(store.Read(key), keys[head * kSize + d]);
      EXPECT_EQ(store.Read(value), values[head * kSize + d]);
    }
  }
  std::size_t untouched = 0;
  for (const std::byte byte : store.memory) untouched += byte == kUntouched;
  EXPECT_GE(untouched, store.memory.size() - 2 * kHeads * kSize * sizeof(float));
}

TEST(KvCopySlotTest, CopiesOneSlotOfOneLayer) {
  for (const KvDtype dtype : {KvDtype::kF16, KvDtype::kF32}) {
    Store copied(dtype, 2, 32, 2), stored(dtype, 2, 32, 2);
    const std::vector<float> keys = RandomFloats(1, 64), values = RandomFloats(2, 64);
    Lane lane;
    const auto store = [&](Store& into, KvSlot slot) {
      KvStoreReference({into.layer, keys.data(), values.data(), 64, &slot}, {0, 1}, lane);
    };
    store(copied, copied.Slot(0, 3));
    KvCopySlot(copied.layer, copied.Slot(0, 3), copied.Slot(1, 12));
    KvCopySlot(copied.layer, copied.Slot(0, 3), copied.Slot(0, 4));
    store(stored, stored.Slot(0, 3));
    store(stored, stored.Slot(1, 12));
    store(stored, stored.Slot(0, 4));
    EXPECT_EQ(copied.memory, stored.memory);
  }
}

}  // namespace
}  // namespace forerun
