// A file whose form is right but whose weights are not: one clear line, whatever output was asked for.
#include <cstring>
#include <fstream>
#include <iterator>

#include "core/formats/gguf_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

// The tiny draft with one weight of its last layer turned into infinity.
std::string DamagedModel() {
  std::ifstream in(TinyDraftPath(), std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const absl::StatusOr<GgufFile> file = GgufFile::FromBytes("tiny", AsBytes(bytes));
  EXPECT_TRUE(file.ok()) << file.status();
  const GgufTensor* tensor = file->FindTensor("blk.1.ffn_down.weight");
  const std::size_t offset = reinterpret_cast<const char*>(tensor->data.data()) - bytes.data();
  const uint16_t infinity = 0x7c00;
  std::memcpy(bytes.data() + offset, &infinity, 2);
  return WriteTemporaryFile("damaged.gguf", bytes);
}

TEST(DamagedWeights, GiveOneClearLineForEveryOutput) {
  TestModel test(DamagedModel(), {Numerics::kF32, KvDtype::kF32}, 2);
  for (const WantedOutput wanted : {WantedOutput::kArgmax, WantedOutput::kLogProbOf, WantedOutput::kFull}) {
    BlockTable table(*test.pool, test.model().kv_layout_id());
    ASSERT_TRUE(table.Reserve(1).ok());
    ForwardBatch batch;
    batch.rows.push_back({.token = 5, .wanted = wanted});
    batch.segments.push_back({&table, 0, 1, true});
    const absl::StatusOr<ForwardResult> result = test.model().Forward(batch);
    ASSERT_EQ(result.status().code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(result.status().message()), testing::HasSubstr("expected a finite number"));
  }
}

TEST(DamagedWeights, InADraftModelEndOneRequestOnly) {
  TestModel target(TinyTargetPath(), {}, 2);
  const absl::StatusOr<LoadedModel> draft =
      LoadModel(DamagedModel(), {}, target.kernels, target.threads, *target.pool);
  ASSERT_TRUE(draft.ok()) << draft.status();
  const auto drafter =
      MakeDrafterOrDie(R"({"type": "draft_model"})",
                       {.target = &target.model(), .draft = draft->model.get(), .pool = target.pool.get()});
  Request plain;
  plain.id = 1;
  plain.prompt = {5};
  plain.verifier = &Rule("greedy");
  plain.max_new_tokens = 8;
  Request drafted = plain;
  drafted.id = 2;
  drafted.drafter = drafter.get();
  drafted.num_speculative_tokens = 2;
  const std::vector<Completion> done = CompleteAll(target.model(), *target.pool, {plain, drafted});
  EXPECT_EQ(done[0].result.output.size(), 8u);
  EXPECT_EQ(done[1].result.reason, FinishReason::kError);
  EXPECT_EQ(done[1].result.status.code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace forerun
