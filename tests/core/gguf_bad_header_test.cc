// Files whose first 24 bytes are wrong, and files that end too early anywhere.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/formats/gguf_file.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/gguf_rejection.h"

namespace forerun {
namespace {

GgufBuilder Sample() {
  GgufBuilder builder;
  builder.U32("a", 1).Strings("b", {"x", "yz"}).Tensor("t", {2, 3}, {1, 2, 3, 4, 5, 6}).Tensor("u", {1}, {7});
  return builder;
}

TEST(GgufBadHeaderTest, EmptyAndTinyFiles) {
  EXPECT_TRUE(IsRejected("", "the magic 'GGUF', found only 0 left"));
  EXPECT_TRUE(IsRejected("GGU", "found only 3 left"));
  EXPECT_TRUE(IsRejected("GGUF", "bytes of the version"));
}

TEST(GgufBadHeaderTest, WrongMagic) {
  EXPECT_TRUE(IsRejected(Sample().Build({.magic = "GGML"}), "expected the magic 'GGUF', found 'GGML'"));
  EXPECT_TRUE(IsRejected(Sample().Build({.magic = "FUGG"}), "found 'FUGG'"));
  EXPECT_TRUE(
      IsRejected(Sample().Build({.magic = std::string("\n\0\xff\x01", 4)}), "found '\\n\\x00\\xff\\x01'"));
}

TEST(GgufBadHeaderTest, WrongVersion) {
  for (const uint32_t version : {0u, 1u, 4u, 0xffffffffu}) {
    EXPECT_TRUE(IsRejected(Sample().Build({.version = version}), absl::StrCat("found ", version)));
  }
}

TEST(GgufBadHeaderTest, BigEndian) {
  EXPECT_TRUE(IsRejected(Sample().Build({.version = 0x03000000}), "found 3, big-endian"));
}

TEST(GgufBadHeaderTest, CountsBeyondTheFile) {
  for (const uint64_t count : {uint64_t{1} << 63, (uint64_t{1} << 63) - 1, ~uint64_t{0}, uint64_t{1000}}) {
    EXPECT_TRUE(IsRejected(Sample().Build({.num_tensors = count}),
                           absl::StrCat("tensors (what the file has room for), found ", count)));
    EXPECT_TRUE(IsRejected(Sample().Build({.num_keys = count}),
                           absl::StrCat("keys (what the file has room for), found ", count)));
  }
}

TEST(GgufBadHeaderTest, CountsThatAreOffByOne) {
  const auto status_with = [](const GgufFrame& frame) {
    const std::string bytes = Sample().Build(frame);
    return GgufFile::FromBytes("bad.gguf", AsBytes(bytes)).status();
  };
  EXPECT_FALSE(status_with({.num_tensors = 1}).ok());
  EXPECT_FALSE(status_with({.num_tensors = 3}).ok());
  EXPECT_FALSE(status_with({.num_keys = 1}).ok());
  EXPECT_FALSE(status_with({.num_keys = 3}).ok());
}

// Only the padding after the last tensor may be missing.
TEST(GgufBadHeaderTest, EveryPrefixIsRejected) {
  const std::string bytes = Sample().Build();
  const size_t end_of_data = bytes.size() - 32 + sizeof(float);
  for (size_t size = 0; size < end_of_data; ++size)
    EXPECT_TRUE(IsRejected(bytes.substr(0, size), "")) << size;
  for (size_t size = end_of_data; size <= bytes.size(); ++size)
    EXPECT_TRUE(IsAccepted(bytes.substr(0, size))) << size;
}

// Under the sanitizers this is the proof that no single wrong byte leads astray.
TEST(GgufBadHeaderTest, EveryChangedByteIsSurvived) {
  const std::string bytes = Sample().Build();
  for (size_t place = 0; place < bytes.size(); ++place) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string changed = bytes;
      changed[place] = static_cast<char>(changed[place] ^ change);
      const auto file = GgufFile::FromBytes("bad.gguf", AsBytes(changed));
      if (!file.ok()) {
        EXPECT_TRUE(IsOneGoodLine(file.status(), "bad.gguf", ""));
      }
    }
  }
}

}  // namespace
}  // namespace forerun
