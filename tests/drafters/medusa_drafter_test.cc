// The Medusa drafter on a real target.
#include "absl/strings/str_cat.h"
#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/random_heads.h"
#include "tests/support/test_models.h"

namespace forerun {
namespace {

class MedusaOnTiny : public testing::Test {
 protected:
  static constexpr int kVocab = 4096, kWidth = 256;
  DrafterResources resources() {
    return {.target = &target_.model(), .draft = nullptr, .pool = target_.pool.get()};
  }
  std::string Options(const HeadFolder& folder, const std::string& more = "") {
    return absl::StrCat(R"({"type": "medusa", "heads": ")", folder.path(), "\"", more, "}");
  }
  Request MakeRequest() {
    Request request;
    request.id = 1;
    request.prompt = *target_.tokenizer().Encode("def main(argv):\n    for name in argv:\n        ", {});
    request.verifier = &Rule("greedy");
    request.max_new_tokens = 20;
    return request;
  }
  std::string Refusal(const std::string& json) {
    return std::string(MakeDrafter(*ParseJson(json, "test"), resources()).status().message());
  }

  TestModel target_{TinyTargetPath(), {}, 1};
};

// Heads that change nothing say what the target itself says after the row before the root: the root again.
TEST_F(MedusaOnTiny, ReadsTheStateOfTheRowBeforeTheRoot) {
  SafetensorsBuilder tensors;
  for (const char* head : {"0", "1"}) {
    tensors
        .Floats(absl::StrCat(head, ".0.linear.weight"), {kWidth, kWidth}, std::vector<float>(kWidth * kWidth))
        .Floats(absl::StrCat(head, ".0.linear.bias"), {kWidth}, std::vector<float>(kWidth));
  }
  const HeadFolder folder(tensors, Json::object());
  const auto drafter =
      MakeDrafterOrDie(Options(folder, R"(, "tree": {"type": "static", "widths": [2, 1]})"), resources());
  class Spy final : public Drafter {
   public:
    Spy(Drafter& inner) : inner_(inner) {}
    absl::string_view name() const override { return inner_.name(); }
    Proposal proposal(const Sampling& sampling) const override { return inner_.proposal(sampling); }
    bool chains_only() const override { return inner_.chains_only(); }
    std::vector<int> taps() const override { return inner_.taps(); }
    absl::StatusOr<std::unique_ptr<DrafterState>> Open() override { return inner_.Open(); }
    absl::Status Propose(std::span<DraftTask> tasks) override {
      const absl::Status status = inner_.Propose(tasks);
      for (const DraftTask& task : tasks) {
        if (task.budget < 4 || task.max_depth < 2) continue;
        ++trees;
        EXPECT_EQ(task.tree->num_drafted(), 4);
        const TokenId root = task.committed.back();
        // The prompt's last token is not the target's own.
        if (std::ssize(task.committed) > task.prompt_length) {
          EXPECT_EQ(task.tree->node(1).token, root);
          EXPECT_EQ(task.tree->node(3).token, root);
          EXPECT_NE(task.tree->node(2).token, root);
        }
      }
      return status;
    }
    int trees = 0;

   private:
    Drafter& inner_;
  };
  Spy spy(*drafter);
  Request request = MakeRequest();
  const std::vector<TokenId> plain = Complete(target_.model(), *target_.pool, request).result.output;
  request.drafter = &spy;
  request.num_speculative_tokens = 4;
  EXPECT_EQ(Complete(target_.model(), *target_.pool, request).result.output, plain);
  EXPECT_GT(spy.trees, 10);
}

TEST_F(MedusaOnTiny, TheTreeIsAsTheOptionsSayAndNoDeeperThanTheHeads) {
  const HeadFolder folder(RandomMedusa({.width = kWidth, .vocab = kVocab, .heads = 2}), Json::object());
  const auto with = [&](const std::string& tree) { return Options(folder, ", \"tree\": " + tree); };
  EXPECT_TRUE(MakeDrafterOrDie(with(R"({"type": "static", "widths": [1, 1]})"), resources())->chains_only());
  EXPECT_FALSE(MakeDrafterOrDie(with(R"({"type": "sequoia"})"), resources())->chains_only());
  EXPECT_FALSE(MakeDrafterOrDie(Options(folder), resources())->chains_only());
  EXPECT_NE(Refusal(with(R"({"type": "static", "widths": [1, 1, 1]})")).find("expected at most 2 levels"),
            std::string::npos);
  EXPECT_NE(Refusal(with(R"({"type": "auto"})")).find("for medusa, found auto"), std::string::npos);
  EXPECT_NE(Refusal(R"({"type": "medusa"})").find("drafter.heads"), std::string::npos);
}

TEST(MedusaElsewhere, ATargetWithoutHiddenStatesIsRefused) {
  const auto pool = *KvPool::Create({.budget_bytes = 1 << 20, .slab_bytes = 1 << 16});
  TableModel table(*pool, ContextTable(4, 1));
  const auto made = MakeDrafter(*ParseJson(R"({"type": "medusa", "heads": "x"})", "test"),
                                {.target = &table, .draft = nullptr, .pool = pool.get()});
  EXPECT_EQ(made.status().message(),
            "drafter.type: \"medusa\" needs a target with hidden states, found one without");
}

}  // namespace
}  // namespace forerun
