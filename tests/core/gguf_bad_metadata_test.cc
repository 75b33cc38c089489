// Files whose keys or values are wrong.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/formats/gguf_values.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/gguf_rejection.h"

namespace forerun {
namespace {

constexpr uint32_t Id(GgufValueType type) { return static_cast<uint32_t>(type); }

// A file with one value under the key "k".
std::string With(GgufValueType type, absl::string_view bytes) {
  return GgufBuilder().Value("k", Id(type), bytes).Build({.trailer = " "});
}

TEST(GgufBadMetadataTest, StringLengths) {
  constexpr GgufValueType kString = GgufValueType::kString;
  const uint64_t left = With(kString, Packed<uint64_t>(0)).size() - (24 + 8 + 1 + 4 + 8);
  EXPECT_TRUE(IsRejected(With(kString, Packed(uint64_t{1} << 63)), "key 'k' at offset 37"));
  EXPECT_TRUE(IsRejected(With(kString, Packed(~uint64_t{0})), "a length of 18446744073709551615"));
  EXPECT_TRUE(IsRejected(With(kString, Packed(left + 1)), absl::StrCat("at most ", left, " bytes")));
  EXPECT_TRUE(IsRejected(With(kString, Packed(left + 1000)), absl::StrCat("a length of ", left + 1000)));
}

TEST(GgufBadMetadataTest, StringLengthInsideAnArray) {
  const std::string head = Packed(Id(GgufValueType::kString)) + Packed<uint64_t>(2) + PackedString("fine");
  EXPECT_TRUE(IsRejected(With(GgufValueType::kArray, head + Packed(uint64_t{1} << 63)),
                         "a length of 9223372036854775808"));
  EXPECT_TRUE(IsRejected(With(GgufValueType::kArray, head), "key 'k'"));
}

TEST(GgufBadMetadataTest, ArrayLengths) {
  for (const GgufValueType element :
       {GgufValueType::kU8, GgufValueType::kU64, GgufValueType::kString, GgufValueType::kBool}) {
    for (const uint64_t count : {uint64_t{1} << 62, ~uint64_t{0}, uint64_t{1} << 61, uint64_t{1000}}) {
      EXPECT_TRUE(IsRejected(With(GgufValueType::kArray, Packed(Id(element)) + Packed(count)),
                             absl::StrCat("found a length of ", count)));
    }
  }
}

TEST(GgufBadMetadataTest, ArrayOfArrays) {
  const std::string inner = Packed(Id(GgufValueType::kArray)) + Packed<uint64_t>(1);
  EXPECT_TRUE(IsRejected(With(GgufValueType::kArray, inner + inner), "found an array of arrays"));
}

TEST(GgufBadMetadataTest, UnknownValueTypes) {
  for (const uint32_t type : {13u, 255u, 0xffffffffu}) {
    EXPECT_TRUE(IsRejected(GgufBuilder().Value("k", type, "12345678").Build(), absl::StrCat("found ", type)));
    EXPECT_TRUE(IsRejected(With(GgufValueType::kArray, Packed(type) + Packed<uint64_t>(1)),
                           absl::StrCat("found ", type)));
  }
}

TEST(GgufBadMetadataTest, BoolsThatAreNeither) {
  EXPECT_TRUE(IsRejected(With(GgufValueType::kBool, "\x07"),
                         "key 'k' at offset 37: expected a bool of 0 or 1, found 7"));
  const std::string array = Packed(Id(GgufValueType::kBool)) + Packed<uint64_t>(3) + "\x01\x01\x02";
  EXPECT_TRUE(IsRejected(With(GgufValueType::kArray, array), "found 2"));
}

TEST(GgufBadMetadataTest, Keys) {
  const auto with_key = [](absl::string_view key) { return GgufBuilder().U32(key, 1).Build(); };
  EXPECT_TRUE(IsRejected(with_key(""), "key 0 of 1 at offset 24"));
  EXPECT_TRUE(IsRejected(with_key(absl::string_view("a\0b", 3)), "found 'a\\x00"));
  EXPECT_TRUE(IsRejected(with_key("a\nb"), "found 'a\\nb'"));
  EXPECT_TRUE(IsRejected(with_key("\xc3"), "UTF-8"));
  EXPECT_TRUE(IsRejected(with_key("\xed\xa0\x80"), "UTF-8"));  // a surrogate
  EXPECT_TRUE(IsRejected(with_key("\xc0\xaf"), "UTF-8"));      // overlong
  EXPECT_TRUE(IsRejected(with_key(std::string(65536, 'k')), "1 to 65535 bytes, found 65536 bytes"));
  EXPECT_TRUE(IsAccepted(with_key(std::string(65535, 'k'))));
  EXPECT_TRUE(IsAccepted(with_key("\xc3\xa4.key")));
}

TEST(GgufBadMetadataTest, KeyLengths) {
  for (const uint64_t length : {uint64_t{1} << 63, ~uint64_t{0}, uint64_t{100000}}) {
    std::string bytes = GgufBuilder().U32("k", 1).Build();
    bytes.replace(24, 8, Packed(length));
    EXPECT_TRUE(IsRejected(bytes, absl::StrCat("a length of ", length)));
  }
}

TEST(GgufBadMetadataTest, DuplicateKeys) {
  EXPECT_TRUE(IsRejected(GgufBuilder().U32("k", 1).U32("l", 1).F32("k", 1).Build(), "key 'k' at offset 58"));
}

TEST(GgufBadMetadataTest, Alignments) {
  for (const uint32_t alignment : {0u, 1u, 3u, 4u, 48u, 1u << 21, 1u << 31}) {
    EXPECT_TRUE(IsRejected(GgufBuilder().U32("general.alignment", alignment).Build(),
                           absl::StrCat("found ", alignment)));
  }
}

TEST(GgufBadMetadataTest, AlignmentsOfAnotherType) {
  const auto with = [](GgufValueType type, absl::string_view bytes) {
    return GgufBuilder().Value("general.alignment", Id(type), bytes).Build();
  };
  EXPECT_TRUE(IsRejected(with(GgufValueType::kI32, Packed<int32_t>(32)), "expected u32, found i32"));
  EXPECT_TRUE(IsRejected(with(GgufValueType::kU64, Packed<uint64_t>(32)), "expected u32, found u64"));
  EXPECT_TRUE(IsRejected(with(GgufValueType::kString, PackedString("32")), "expected u32, found string"));
  EXPECT_TRUE(IsRejected(GgufBuilder().Ints("general.alignment", {32}).Build(), "found array of 1 i32"));
}

TEST(GgufBadMetadataTest, SplitFiles) {
  EXPECT_TRUE(
      IsRejected(GgufBuilder().U32("split.count", 3).U32("split.no", 0).Build(), "llama-gguf-split --merge"));
  EXPECT_TRUE(IsRejected(GgufBuilder().U32("split.count", 1).U32("split.no", 1).Build(), "key 'split.no'"));
  EXPECT_TRUE(IsRejected(GgufBuilder().String("split.count", "3").Build(), "found string"));
  EXPECT_TRUE(IsAccepted(GgufBuilder().U32("split.count", 1).U32("split.no", 0).Build()));
}

}  // namespace
}  // namespace forerun
