// Valid files: what was written is what is read. Broken ones are in gguf_bad_*_test.cc.
#include "core/formats/gguf_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/gguf_builder.h"
#include "tests/support/gguf_rejection.h"

namespace forerun {
namespace {

constexpr uint32_t kU8 = 0, kI8 = 1, kU64 = 10, kI64 = 11;  // value type ids

GgufBuilder Sample() {
  GgufBuilder builder;
  builder.String("general.architecture", "llama")
      .U32("llama.block_count", 30)
      .F32("llama.epsilon", 1e-5f)
      .Bool("tokenizer.add_bos", true)
      .Strings("tokenizer.tokens", {"<s>", "", std::string("\xff\0\n", 3), "dog"})
      .Floats("tokenizer.scores", {0.5f, -1})
      .Ints("tokenizer.types", {3, 1, -7})
      .Tensor("a", {3, 2}, {1, 2, 3, 4, 5, 6})
      .Tensor("b", {5}, {7, 8, 9, 10, 11})
      .Tensor("c", {32, 2, 2}, TensorType::kQ4_0, std::string(4 * 18, '\x11'));
  return builder;
}

class GgufFileTest : public ::testing::Test {
 protected:
  GgufFile Parse(const GgufBuilder& builder, const GgufFrame& frame = {}) {
    bytes_ = builder.Build(frame);
    auto file = GgufFile::FromBytes("test.gguf", AsBytes(bytes_));
    EXPECT_TRUE(file.ok()) << file.status();
    return *std::move(file);
  }
  std::string bytes_;
};

TEST_F(GgufFileTest, ValuesComeBack) {
  const GgufFile file = Parse(Sample());
  EXPECT_EQ(file.path(), "test.gguf");
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.file_bytes(), bytes_.size());
  EXPECT_TRUE(file.Has("llama.epsilon"));
  EXPECT_FALSE(file.Has("llama.epsilo"));
  EXPECT_EQ(file.GetString("general.architecture").value(), "llama");
  EXPECT_EQ(file.GetU32("llama.block_count").value(), 30u);
  EXPECT_EQ(file.GetF32("llama.epsilon").value(), 1e-5f);
  EXPECT_TRUE(file.GetBool("tokenizer.add_bos").value());
  EXPECT_EQ(file.GetFloats("tokenizer.scores").value(), (std::vector<float>{0.5f, -1}));
  EXPECT_EQ(file.GetInts("tokenizer.types").value(), (std::vector<int32_t>{3, 1, -7}));
}

TEST_F(GgufFileTest, StringValuesMayHoldAnyBytes) {
  const GgufFile file = Parse(Sample());
  const auto tokens = file.GetStrings("tokenizer.tokens").value();
  ASSERT_EQ(tokens.size(), 4u);
  EXPECT_EQ(tokens[1], "");
  EXPECT_EQ(tokens[2], std::string("\xff\0\n", 3));
  EXPECT_EQ(tokens[3], "dog");
}

TEST_F(GgufFileTest, IntegersOfAnyTypeAreTakenWhereTheyFit) {
  GgufBuilder builder;
  builder.Value("u8", kU8, Packed<uint8_t>(200))
      .Value("u64", kU64, Packed<uint64_t>(4294967295))
      .Value("i64", kI64, Packed<int64_t>(9))
      .Value("large", kU64, Packed<uint64_t>(4294967296))
      .Value("negative", kI8, Packed<int8_t>(-1));
  const GgufFile file = Parse(builder);
  EXPECT_EQ(file.GetU32("u8").value(), 200u);
  EXPECT_EQ(file.GetU32("u64").value(), 4294967295u);
  EXPECT_EQ(file.GetU32("i64").value(), 9u);
  EXPECT_TRUE(IsOneGoodLine(file.GetU32("large").status(), "test.gguf", "found 4294967296"));
  EXPECT_TRUE(IsOneGoodLine(file.GetU32("negative").status(), "test.gguf", "found -1"));
}

TEST_F(GgufFileTest, MissingKeysAreNotFoundUnlessThereIsAnotherValue) {
  const GgufFile file = Parse(Sample());
  EXPECT_TRUE(absl::IsNotFound(file.GetU32("none").status()));
  EXPECT_TRUE(absl::IsNotFound(file.GetStrings("none").status()));
  EXPECT_EQ(file.GetU32Or("none", 5).value(), 5u);
  EXPECT_EQ(file.GetF32Or("none", 0.5f).value(), 0.5f);
  EXPECT_TRUE(file.GetBoolOr("none", true).value());
  EXPECT_EQ(file.GetU32Or("llama.block_count", 5).value(), 30u);
}

TEST_F(GgufFileTest, WrongTypesAreInvalid) {
  const GgufFile file = Parse(Sample());
  const auto is_wrong = [](const absl::Status& status, absl::string_view part) {
    return IsOneGoodLine(status, "test.gguf", part);
  };
  EXPECT_TRUE(is_wrong(file.GetU32("general.architecture").status(), "expected an integer, found string"));
  EXPECT_TRUE(is_wrong(file.GetU32("tokenizer.types").status(), "found array of 3 i32"));
  EXPECT_TRUE(is_wrong(file.GetF32("llama.block_count").status(), "expected f32, found u32"));
  EXPECT_TRUE(is_wrong(file.GetBool("llama.block_count").status(), "expected bool, found u32"));
  EXPECT_TRUE(
      is_wrong(file.GetString("tokenizer.tokens").status(), "expected string, found array of 4 string"));
  EXPECT_TRUE(is_wrong(file.GetStrings("general.architecture").status(), "expected array of string"));
  EXPECT_TRUE(is_wrong(file.GetFloats("tokenizer.types").status(), "expected array of f32"));
  EXPECT_TRUE(is_wrong(file.GetInts("tokenizer.scores").status(), "expected array of i32 or u32"));
  EXPECT_TRUE(is_wrong(file.GetU32Or("llama.epsilon", 1).status(), "found f32"));
}

TEST_F(GgufFileTest, TensorsComeBack) {
  const GgufFile file = Parse(Sample());
  ASSERT_EQ(file.tensors().size(), 3u);
  const GgufTensor* b = file.FindTensor("b");
  ASSERT_NE(b, nullptr);
  ASSERT_EQ(b->data.size(), 5 * sizeof(float));
  float values[5];
  std::memcpy(values, b->data.data(), sizeof(values));
  EXPECT_EQ(values[4], 11);
  EXPECT_EQ(b->columns(), 5);
  EXPECT_EQ(b->rows(), 1);
  const GgufTensor* c = file.Tensor("c", {32, 2, 2}).value();
  EXPECT_EQ(c->type, TensorType::kQ4_0);
  EXPECT_EQ(c->rows(), 4);
  EXPECT_EQ(c->data.size(), 72u);
  EXPECT_EQ(file.FindTensor("d"), nullptr);
  EXPECT_TRUE(absl::IsNotFound(file.Tensor("d", {1}).status()));
  EXPECT_TRUE(
      IsOneGoodLine(file.Tensor("a", {2, 3}).status(), "test.gguf", "expected shape [2, 3], found [3, 2]"));
}

TEST_F(GgufFileTest, VersionTwoAndOtherAlignments) {
  EXPECT_EQ(Parse(Sample(), {.version = 2}).version(), 2u);
  for (const uint32_t alignment : {8u, 64u, 1u << 20}) {
    GgufBuilder builder = Sample();
    builder.U32("general.alignment", alignment);
    EXPECT_EQ(Parse(builder, {.alignment = alignment}).tensors().size(), 3u);
  }
}

TEST_F(GgufFileTest, FilesWithoutTensorsOrKeys) {
  EXPECT_TRUE(Parse(GgufBuilder()).tensors().empty());
  EXPECT_EQ(Parse(GgufBuilder().U32("x", 1)).GetU32("x").value(), 1u);
}

TEST_F(GgufFileTest, ViewsSurviveAMove) {
  GgufFile first = Parse(Sample());
  const auto tokens = first.GetStrings("tokenizer.tokens").value();
  const GgufTensor* tensor = first.FindTensor("b");
  const GgufFile second = std::move(first);
  EXPECT_EQ(tokens[3], "dog");
  EXPECT_EQ(second.FindTensor("b"), tensor);
  EXPECT_EQ(tensor->columns(), 5);
}

TEST_F(GgufFileTest, OpensTheTrainedPair) {
  for (const char* name : {"draft", "target"}) {
    const std::string path =
        std::string(FORERUN_SOURCE_DIR) + "/tests/data/tiny-python/tiny-python-" + name + "-f16.gguf";
    const auto file = GgufFile::Open(path);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->GetStrings("tokenizer.ggml.tokens").value().size(), 4096u);
    EXPECT_TRUE(file->CheckFinite().ok()) << file->CheckFinite();
    const auto first = std::to_integer<int>(file->tensors()[0].data[0]);
    file->Release(file->tensors()[0].data);
    EXPECT_EQ(std::to_integer<int>(file->tensors()[0].data[0]), first);
    EXPECT_TRUE(file->CheckUnchanged().ok());
  }
}

}  // namespace
}  // namespace forerun
