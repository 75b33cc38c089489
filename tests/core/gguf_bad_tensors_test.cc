// Files whose tensor table or tensor data are wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/formats/gguf_file.h"
#include "kernels/formats/blocks.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/gguf_rejection.h"

namespace forerun {
namespace {

constexpr uint64_t kTwo32 = uint64_t{1} << 32;

GgufEntry Entry(std::vector<uint64_t> shape, uint32_t type = 0, size_t bytes = 64) {
  return {.name = "t", .shape = std::move(shape), .type = type, .data = std::string(bytes, '\1')};
}

std::string With(GgufEntry entry) { return GgufBuilder().Tensor(std::move(entry)).Build(); }

TEST(GgufBadTensorsTest, NumberOfDimensions) {
  for (const uint32_t dimensions : {0u, 5u, 0xffffffffu}) {
    GgufEntry entry = Entry({16});
    entry.num_dimensions = dimensions;
    EXPECT_TRUE(
        IsRejected(With(entry),
                   absl::StrCat("tensor 't' at offset 33: expected 1 to 4 dimensions, found ", dimensions)));
  }
}

TEST(GgufBadTensorsTest, Dimensions) {
  EXPECT_TRUE(IsRejected(With(Entry({0})), "a dimension of 1 or more, found 0"));
  EXPECT_TRUE(IsRejected(With(Entry({16, 0})), "found 0"));
  EXPECT_TRUE(IsRejected(With(Entry({~uint64_t{0}})), "found -1"));
  EXPECT_TRUE(IsRejected(With(Entry({16, uint64_t{1} << 63})), "found -9223372036854775808"));
}

TEST(GgufBadTensorsTest, ElementsOverflow) {
  EXPECT_TRUE(IsRejected(With(Entry({kTwo32, kTwo32})), "fewer than 2^63 elements"));
  EXPECT_TRUE(IsRejected(With(Entry({kTwo32, kTwo32, 0})), "fewer than 2^63 elements"));
  EXPECT_TRUE(IsRejected(With(Entry({1 << 16, 1 << 16, 1 << 16, 1 << 15})), "fewer than 2^63 elements"));
}

// The elements can be counted in 63 bits, their bytes cannot in 64; and sizes that wrap only when padded.
TEST(GgufBadTensorsTest, BytesOverflow) {
  EXPECT_TRUE(IsRejected(With(Entry({kTwo32, kTwo32 / 4})), "a tensor of at most"));
  EXPECT_TRUE(IsRejected(With(Entry({(uint64_t{1} << 62) - 1})), "a tensor of at most"));
  EXPECT_TRUE(IsRejected(With(Entry({uint64_t{1} << 62, 1}, 30)), "a tensor of at most"));
  EXPECT_TRUE(IsRejected(With(Entry({(uint64_t{1} << 63) - 32}, 8)), "a tensor of at most"));
}

TEST(GgufBadTensorsTest, Types) {
  for (const uint32_t type : {0xffffffffu, 4u, 5u, 16u, 31u, 40u, 1000u}) {
    EXPECT_TRUE(IsRejected(With(Entry({256}, type)), absl::StrCat("found id ", type)));
  }
  EXPECT_TRUE(IsRejected(With(Entry({256}, 23)), "IQ4_XS"));
  EXPECT_TRUE(IsRejected(With(Entry({256}, 4)), "removed from the format"));
}

TEST(GgufBadTensorsTest, ColumnsMustFillBlocks) {
  EXPECT_TRUE(IsRejected(With(Entry({33}, 2)), "a multiple of 32 columns for Q4_0, found 33"));
  EXPECT_TRUE(IsRejected(With(Entry({16, 2}, 8)), "found 16"));
  EXPECT_TRUE(IsRejected(With(Entry({128, 2}, 12)), "a multiple of 256 columns for Q4_K, found 128"));
}

TEST(GgufBadTensorsTest, Names) {
  const auto with_name = [](absl::string_view name) {
    GgufEntry entry = Entry({16});
    entry.name = std::string(name);
    return With(entry);
  };
  EXPECT_TRUE(IsRejected(with_name(""), "tensor 0 of 1 at offset 24"));
  EXPECT_TRUE(IsRejected(with_name(std::string(64, 'n')), "1 to 63 bytes, found 64 bytes"));
  EXPECT_TRUE(IsRejected(with_name(absl::string_view("a\0b", 3)), "found 'a\\x00"));
  EXPECT_TRUE(IsRejected(with_name("\xff"), "UTF-8"));
  EXPECT_TRUE(IsAccepted(with_name(std::string(63, 'n'))));
}

TEST(GgufBadTensorsTest, DuplicateNames) {
  EXPECT_TRUE(
      IsRejected(GgufBuilder().Tensor("t", {1}, {1}).Tensor("u", {1}, {1}).Tensor("t", {2}, {1, 2}).Build(),
                 "expected a tensor name used once"));
}

// The second tensor belongs at 64.
TEST(GgufBadTensorsTest, Offsets) {
  for (const uint64_t offset : {uint64_t{0}, uint64_t{32}, uint64_t{63}, uint64_t{65}, uint64_t{96},
                                uint64_t{1} << 40, ~uint64_t{0} - 31}) {
    GgufEntry second = Entry({16});
    second.name = "u";
    second.offset = offset;
    EXPECT_TRUE(IsRejected(GgufBuilder().Tensor(Entry({16})).Tensor(second).Build(),
                           absl::StrCat("expected data offset 64 (tensors back to back), found ", offset)));
  }
  GgufEntry first = Entry({16});
  first.offset = 32;
  EXPECT_TRUE(IsRejected(With(first), "expected data offset 0"));
}

TEST(GgufBadTensorsTest, OutOfOrder) {
  GgufEntry first = Entry({16});
  GgufEntry second = Entry({16});
  first.offset = 64;
  second.name = "u";
  second.offset = 0;
  EXPECT_TRUE(IsRejected(GgufBuilder().Tensor(first).Tensor(second).Build(), "expected data offset 0"));
}

TEST(GgufBadTensorsTest, DataBeyondTheFile) {
  EXPECT_TRUE(IsRejected(With(Entry({17})),
                         "tensor 't' at offset 64: expected 68 bytes of data, found only 64 left"));
  const std::string bytes = With(Entry({16}));
  EXPECT_TRUE(IsRejected(bytes.substr(0, bytes.size() - 1), "found only 63 left"));
  EXPECT_TRUE(IsRejected(bytes.substr(0, 64), "found only 0 left"));
}

TEST(GgufBadTensorsTest, TrailingBytes) {
  const auto with_trailer = [](size_t bytes, absl::string_view trailer) {
    return GgufBuilder().Tensor(Entry({4}, 0, bytes)).Build({.trailer = std::string(trailer)});
  };
  EXPECT_TRUE(IsAccepted(with_trailer(16, std::string(16, '\0'))));
  EXPECT_TRUE(IsAccepted(with_trailer(16, std::string(3, '\0'))));
  EXPECT_TRUE(
      IsRejected(with_trailer(16, std::string(17, '\0')), "padding to at most 96, found 17 more bytes"));
  EXPECT_TRUE(IsRejected(with_trailer(16, absl::string_view("\0\0\5", 3)),
                         "end of data at offset 82: expected zero padding, found byte 5"));
  EXPECT_TRUE(IsRejected(GgufBuilder().U32("k", 1).Build({.trailer = "x"}), "end of data"));
}

absl::Status FiniteStatus(const GgufBuilder& builder) {
  const std::string bytes = builder.Build();
  const auto file = GgufFile::FromBytes("bad.gguf", AsBytes(bytes));
  return file.ok() ? file->CheckFinite() : file.status();
}

// Two blocks of ones with `half` at `place` of the second.
std::string Blocks(size_t block_bytes, size_t place, uint16_t half) {
  std::string data(2 * block_bytes, '\1');
  std::memcpy(data.data() + block_bytes + place, &half, sizeof(half));
  return data;
}

TEST(GgufBadTensorsTest, ScalesThatAreNotFinite) {
  const struct {
    TensorType type;
    size_t place;
  } kScales[] = {{TensorType::kF16, 0},   {TensorType::kBF16, 0},   {TensorType::kQ4_0, 0},
                 {TensorType::kQ4_1, 0},  {TensorType::kQ4_1, 2},   {TensorType::kQ5_0, 0},
                 {TensorType::kQ5_1, 2},  {TensorType::kQ8_0, 0},   {TensorType::kQ2_K, 80},
                 {TensorType::kQ2_K, 82}, {TensorType::kQ3_K, 108}, {TensorType::kQ4_K, 0},
                 {TensorType::kQ4_K, 2},  {TensorType::kQ5_K, 2},   {TensorType::kQ6_K, 208}};
  for (const auto& scale : kScales) {
    const TensorType type = scale.type;
    const TensorTypeInfo& info = Info(type);
    const auto status_with = [&](uint16_t half) {
      return FiniteStatus(GgufBuilder().Tensor("t", {info.block_columns, 2}, type,
                                               Blocks(info.block_bytes, scale.place, half)));
    };
    const bool is_brain = type == TensorType::kBF16;
    EXPECT_TRUE(IsOneGoodLine(status_with(is_brain ? 0x7fc0 : 0x7e00), "bad.gguf", "found NaN in block 1"))
        << info.name;
    EXPECT_TRUE(
        IsOneGoodLine(status_with(is_brain ? 0xff80 : 0xfc00), "bad.gguf", "found infinity in block 1"))
        << info.name;
    EXPECT_TRUE(status_with(0x0001).ok()) << info.name;
  }
}

TEST(GgufBadTensorsTest, FloatsThatAreNotFinite) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(IsOneGoodLine(FiniteStatus(GgufBuilder().Tensor("t", {3}, {1, 2, -kInfinity})), "bad.gguf",
                            "tensor 't' at offset 72: expected a finite weight, found infinity in block 2"));
  EXPECT_TRUE(IsOneGoodLine(FiniteStatus(GgufBuilder().Tensor("t", {2}, {NAN, 2})), "bad.gguf",
                            "found NaN in block 0"));
}

TEST(GgufBadTensorsTest, OutputHeadOfZeros) {
  const std::string zeros(2 * sizeof(BlockQ6_K), '\0');
  EXPECT_TRUE(
      IsOneGoodLine(FiniteStatus(GgufBuilder().Tensor("output.weight", {256, 2}, TensorType::kQ6_K, zeros)),
                    "bad.gguf", "tensor 'output.weight'"));
  EXPECT_TRUE(IsOneGoodLine(FiniteStatus(GgufBuilder().Tensor("token_embd.weight", {2, 2}, {0, 0, 0, 0})),
                            "bad.gguf", "expected an output head with weights, found only zeros"));
  EXPECT_TRUE(FiniteStatus(GgufBuilder().Tensor("token_embd.weight", {2, 1}, {0, 1})).ok());
  EXPECT_TRUE(FiniteStatus(GgufBuilder().Tensor("bias", {2}, {0, 0})).ok());
}

}  // namespace
}  // namespace forerun
