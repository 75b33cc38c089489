// Safetensors files: what good ones give, and one named test for every lie.
#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/formats/safetensors_file.h"
#include "gtest/gtest.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/gguf_rejection.h"
#include "tests/support/safetensors_builder.h"

namespace forerun {
namespace {

testing::AssertionResult IsRefused(const std::string& bytes, absl::string_view part) {
  return IsOneGoodLine(SafetensorsFile::FromBytes("bad.safetensors", AsBytes(bytes)).status(),
                       "bad.safetensors", part);
}

// A file with one tensor "t" of 16 bytes, its entry given.
std::string WithEntry(absl::string_view entry) {
  return SafetensorsBytes(absl::StrCat(R"({"t": )", entry, "}"), std::string(16, '\1'));
}

std::string WithShape(absl::string_view shape) {
  return WithEntry(absl::StrCat(R"({"dtype": "F32", "shape": )", shape, R"(, "data_offsets": [0, 16]})"));
}

TEST(Safetensors, GivesEveryTypeAtAnyAlignment) {
  const std::string bytes = SafetensorsBuilder()
                                .Tensor("flags", SafetensorsType::kBool, {3}, std::string("\1\0\1", 3))
                                .Floats("single", {2, 1}, {1.5f, -2})
                                .Floats("half", {2}, {0.25f, 3}, SafetensorsType::kF16)
                                .Floats("brain", {1}, {-4}, SafetensorsType::kBF16)
                                .Integers("long", {-5, int64_t{1} << 40})
                                .Tensor("int", SafetensorsType::kI32, {}, Packed<int32_t>(-7))
                                .Build();
  const auto file = SafetensorsFile::FromBytes("good", AsBytes(bytes));
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_EQ(file->tensors().size(), 6u);
  EXPECT_EQ(file->FindTensor("nothing"), nullptr);
  const auto tensor = [&](const char* name) -> const SafetensorsTensor& { return *file->FindTensor(name); };
  EXPECT_EQ(tensor("single").shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(*file->Floats(tensor("single")), (std::vector<float>{1.5f, -2}));
  EXPECT_EQ(*file->Floats(tensor("half")), (std::vector<float>{0.25f, 3}));
  EXPECT_EQ(*file->Floats(tensor("brain")), (std::vector<float>{-4}));
  EXPECT_EQ(*file->Integers(tensor("long")), (std::vector<int64_t>{-5, int64_t{1} << 40}));
  EXPECT_EQ(*file->Integers(tensor("int")), (std::vector<int64_t>{-7}));
  EXPECT_EQ(tensor("int").elements(), 1);
  EXPECT_TRUE(
      IsOneGoodLine(file->Floats(tensor("long")).status(), "good", "expected F32, F16 or BF16, found I64"));
  EXPECT_TRUE(IsOneGoodLine(file->Integers(tensor("half")).status(), "good", "tensor 'half'"));
  EXPECT_TRUE(file->CheckShape(tensor("half"), {2}).ok());
  EXPECT_TRUE(IsOneGoodLine(file->CheckShape(tensor("half"), {3}), "good", "expected shape [3], found [2]"));
}

TEST(Safetensors, MetadataAndOrderInTheHeaderAreFree) {
  const std::string header = R"({"b": {"dtype": "I32", "shape": [1], "data_offsets": [4, 8]},
      "__metadata__": {"format": "pt"}, "a": {"dtype": "I32", "shape": [1], "data_offsets": [0, 4]}}   )";
  const std::string bytes = SafetensorsBytes(header, Packed<int32_t>(1) + Packed<int32_t>(2));
  const auto file = SafetensorsFile::FromBytes("good", AsBytes(bytes));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->tensors()[0].name, "a");
  EXPECT_EQ(*file->Integers(*file->FindTensor("b")), std::vector<int64_t>{2});
}

TEST(Safetensors, OpensWhatIsOnDisk) {
  const std::string path =
      WriteTemporaryFile("model.safetensors", SafetensorsBuilder().Floats("x", {1}, {8}).Build());
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*file->Floats(*file->FindTensor("x")), std::vector<float>{8});
  EXPECT_TRUE(absl::IsNotFound(SafetensorsFile::Open(path + ".none").status()));
}

TEST(BadSafetensors, TooShortForALength) {
  EXPECT_TRUE(
      IsRefused("", "header at offset 0: expected 8 bytes with the header's length, found a file of 0"));
  EXPECT_TRUE(IsRefused("1234567", "found a file of 7"));
}

TEST(BadSafetensors, HeaderLongerThanTheFile) {
  EXPECT_TRUE(IsRefused(SafetensorsBytes("{}", "", 3), "a header of at most 2 bytes, found 3"));
  EXPECT_TRUE(IsRefused(SafetensorsBytes("{}", "", int64_t{1} << 62), "found 4611686018427387904"));
  EXPECT_TRUE(IsRefused(std::string(8, '\xff') + "{}", "found 18446744073709551615"));
}

TEST(BadSafetensors, HeaderThatIsNoObject) {
  EXPECT_TRUE(IsRefused(SafetensorsBytes("", ""), "a JSON object"));
  EXPECT_TRUE(IsRefused(SafetensorsBytes("[]", ""), "a JSON object"));
  EXPECT_TRUE(IsRefused(SafetensorsBytes(" {}", ""), "a JSON object"));
  EXPECT_TRUE(IsRefused(SafetensorsBytes("{\"t\"", ""), "header at offset 8: expected JSON"));
  EXPECT_TRUE(IsRefused(SafetensorsBytes("{\"\xff\n\": 1}", ""), "expected JSON"));
  EXPECT_TRUE(IsRefused(SafetensorsBytes("{} {}", ""), "expected JSON"));
}

TEST(BadSafetensors, NameGivenTwice) {
  constexpr char kEntry[] = R"("t": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]})";
  EXPECT_TRUE(IsRefused(SafetensorsBytes(absl::StrCat("{", kEntry, ",", kEntry, "}"), std::string(16, '\0')),
                        "appears twice"));
}

TEST(BadSafetensors, Metadata) {
  EXPECT_TRUE(IsRefused(SafetensorsBytes(R"({"__metadata__": {"a": 1}})", ""), "__metadata__ of strings"));
  EXPECT_TRUE(IsRefused(SafetensorsBytes(R"({"__metadata__": []})", ""), "__metadata__ of strings"));
}

TEST(BadSafetensors, EntryOfOtherMembers) {
  for (const char* entry : {"1", "{}", R"({"dtype": "F32", "shape": [4]})",
                            R"({"dtype": "F32", "shape": [4], "data_offsets": [0, 16], "x": 1})",
                            R"({"dtype": "F32", "shape": [4], "offsets": [0, 16]})"}) {
    EXPECT_TRUE(IsRefused(WithEntry(entry), "tensor 't' at offset 8: expected an object of dtype")) << entry;
  }
}

TEST(BadSafetensors, Type) {
  for (const char* type : {"\"F64\"", "\"F8_E4M3\"", "\"f32\"", "\"\"", "4", "null"}) {
    const std::string entry =
        absl::StrCat(R"({"dtype": )", type, R"(, "shape": [4], "data_offsets": [0, 16]})");
    EXPECT_TRUE(IsRefused(WithEntry(entry), "expected a dtype of F32, F16, BF16, I64, I32 or BOOL")) << type;
  }
}

TEST(BadSafetensors, Shape) {
  for (const char* shape : {"4", "[0]", "[4, 0]", "[-4]", "[4.0]", "[\"4\"]", "{}", "[[4]]"}) {
    EXPECT_TRUE(IsRefused(WithShape(shape), "expected a shape of integers")) << shape;
  }
}

TEST(BadSafetensors, ShapeOverflow) {
  for (const char* shape : {"[4294967296, 4294967296]", "[18446744073709551615]", "[4611686018427387905]",
                            "[9223372036854775808, 2]"}) {
    EXPECT_TRUE(IsRefused(WithShape(shape), "fewer than 2^63 bytes")) << shape;
  }
}

TEST(BadSafetensors, BytesThatTheShapeDoesNotExplain) {
  EXPECT_TRUE(IsRefused(WithShape("[3]"), "expected 12 bytes, as shape and dtype say, found 16"));
  EXPECT_TRUE(IsRefused(WithShape("[5]"), "expected 20 bytes, as shape and dtype say, found 16"));
  EXPECT_TRUE(IsRefused(WithShape("[]"), "expected 4 bytes, as shape and dtype say, found 16"));
}

TEST(BadSafetensors, Offsets) {
  for (const char* offsets : {"[0, 17]", "[16, 0]", "[20, 36]", "[0, 18446744073709551615]"}) {
    const std::string entry =
        absl::StrCat(R"({"dtype": "F32", "shape": [4], "data_offsets": )", offsets, "}");
    EXPECT_TRUE(IsRefused(WithEntry(entry), "end within the 16 bytes of data")) << offsets;
  }
  for (const char* offsets : {"[0]", "[0, 8, 16]", "[0, -1]", "[0, 16.0]", "0", "[\"0\", \"16\"]"}) {
    const std::string entry =
        absl::StrCat(R"({"dtype": "F32", "shape": [4], "data_offsets": )", offsets, "}");
    EXPECT_TRUE(IsRefused(WithEntry(entry), "data_offsets of two integers")) << offsets;
  }
}

TEST(BadSafetensors, OverlapGapAndRest) {
  const auto two = [](int first_end, int second_begin) {
    return SafetensorsBytes(
        absl::StrCat(R"({"a": {"dtype": "BOOL", "shape": [)", first_end, R"(], "data_offsets": [0, )",
                     first_end, R"(]}, "b": {"dtype": "BOOL", "shape": [4], "data_offsets": [)", second_begin,
                     ", ", second_begin + 4, "]}}"),
        std::string(16, '\0'));
  };
  EXPECT_TRUE(IsRefused(two(8, 7), "tensor 'b'"));
  EXPECT_TRUE(IsRefused(two(8, 7), "expected data from 8 on, where the tensor before it ends, found 7"));
  EXPECT_TRUE(IsRefused(two(8, 9), "expected data from 8 on, where the tensor before it ends, found 9"));
  EXPECT_TRUE(IsRefused(two(8, 8), "end of data"));
  EXPECT_TRUE(IsRefused(two(8, 8), "found 4 more bytes"));
  EXPECT_TRUE(IsRefused(SafetensorsBytes("{}", "x"), "found 1 more bytes"));
}

TEST(BadSafetensors, TruncatedAnywhere) {
  const std::string bytes = SafetensorsBuilder().Floats("x", {2, 2}, {1, 2, 3, 4}).Integers("y", {1}).Build();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_TRUE(IsRefused(bytes.substr(0, size), "")) << size;
  }
  EXPECT_TRUE(SafetensorsFile::FromBytes("good", AsBytes(bytes)).ok());
}

}  // namespace
}  // namespace forerun
