// Model files whose tensors disagree with their keys, and that nothing large is allocated before this is
// seen.
#include <sys/resource.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/model_rejection.h"

namespace forerun {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kHasAddressSanitizer = true;
#elif defined(__has_feature)
constexpr bool kHasAddressSanitizer = __has_feature(address_sanitizer);
#else
constexpr bool kHasAddressSanitizer = false;
#endif

ModelParts SmallLlama() { return ModelParts(SmallSpec("llama")); }

class ModelBadTensors : public testing::TestWithParam<std::string> {
 protected:
  const ModelParts parts_{SmallSpec(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Architectures, ModelBadTensors, testing::ValuesIn(AllArchitectures()),
                         [](const auto& info) { return info.param; });

TEST_P(ModelBadTensors, MissingTensor) {
  for (const GgufEntry& tensor : parts_.tensors) {
    ModelParts parts = parts_;
    parts.Remove(tensor.name);
    EXPECT_TRUE(IsRefused(parts, absl::StrCat("tensor '", tensor.name, "'"), "found no such tensor"));
  }
}

TEST_P(ModelBadTensors, TensorOfAnotherShape) {
  for (const GgufEntry& tensor : parts_.tensors) {
    const std::string subject = absl::StrCat("tensor '", tensor.name, "'");
    std::vector<uint64_t> longer = tensor.shape, shorter = tensor.shape, deeper = tensor.shape;
    ++longer.front();
    shorter.back() -= 2;  // of token_embd: fewer rows than words
    deeper.push_back(1);
    for (const std::vector<uint64_t>& shape : {longer, shorter, deeper}) {
      uint64_t elements = 1;
      for (const uint64_t size : shape) elements *= size;
      ModelParts parts = parts_;
      GgufEntry& spoilt = parts.Tensor(tensor.name);
      spoilt.data.resize(elements * sizeof(float));
      spoilt.shape = shape;
      const bool fewer_words = tensor.name == "token_embd.weight" && shape == shorter;
      EXPECT_TRUE(IsRefused(parts, fewer_words ? "tokenizer.ggml.tokens" : subject, "expected "));
    }
  }
}

TEST(ModelBadTensorsOfLlama, OneTooManyIsAnotherModel) {
  ModelParts biased = SmallLlama();
  biased.tensors.push_back({.name = "blk.1.attn_q.bias", .shape = {64}, .data = std::string(256, '\0')});
  EXPECT_TRUE(
      IsRefused(biased, "tensor 'blk.1.attn_q.bias'", "expected only the tensors of 2 layers of llama"));
  ModelParts fewer_layers = SmallLlama();
  fewer_layers.counts["block_count"] = 1;
  EXPECT_TRUE(IsRefused(fewer_layers, "tensor 'blk.1.attn_norm.weight'", "the tensors of 1 layers of llama"));
  ModelParts more_layers = SmallLlama();
  more_layers.counts["block_count"] = 3;
  EXPECT_TRUE(IsRefused(more_layers, "tensor 'blk.2.attn_norm.weight'", "found no such tensor"));
}

// The reader's own check, seen through the whole loader.
TEST(ModelBadTensorsOfLlama, ColumnsThatAreNoMultipleOfABlock) {
  ModelParts parts = SmallLlama();
  GgufEntry& tensor = parts.Tensor("blk.0.ffn_up.weight");
  tensor.type = static_cast<uint32_t>(TensorType::kQ4_K);
  EXPECT_TRUE(IsRefused(parts, "tensor 'blk.0.ffn_up.weight'",
                        "expected a multiple of 256 columns for Q4_K, found 96"));
}

// What the counts promise is not believed before the tensors are seen.
constexpr rlim_t kAddressSpace = rlim_t{1} << 30;

TEST(ModelBadTensorsMemory, HugeCountsAllocateNothing) {
  if (kHasAddressSanitizer) GTEST_SKIP() << "AddressSanitizer itself needs more than the limit";
  for (const char* key :
       {"block_count", "embedding_length", "feed_forward_length", "context_length", "attention.head_count"}) {
    ModelParts parts = SmallLlama();
    parts.counts[key] = 1 << 24;
    const ModelFile file(parts);
    const auto load = [&] {
      const rlimit address_space{kAddressSpace, kAddressSpace};
      setrlimit(RLIMIT_AS, &address_space);
      const bool may_load = std::string(key) == "context_length";
      std::exit(LoadStatus(file.path()).ok() == may_load ? 0 : 1);
    };
    EXPECT_EXIT(load(), testing::ExitedWithCode(0), "") << key;
  }
}

}  // namespace
}  // namespace forerun
