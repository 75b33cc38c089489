// What every drafter owes the engine, run over the registry with default options, and over further options: a
// new line in drafter_list.inc is tested by being there.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "core/model/table_model.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/corpora.h"
#include "tests/support/program.h"
#include "tests/support/proposing.h"
#include "tests/support/random_heads.h"
#include "tests/support/target_features.h"
#include "tests/support/test_models.h"
#include "tests/support/toy_tokenizer.h"

namespace forerun {
namespace {

constexpr int kVocab = 6;

struct ContractCase {
  std::string name;
  std::string options;
  bool needs_heads = false;  // runs on the tiny target: tables have no hidden states
};

// "SUFFIX_ARRAY" and "NGRAM" stand for the paths of corpora, "LOG" for that of a run, "HEADS" for that of
// random heads.
std::vector<ContractCase> ContractCases() {
  std::vector<ContractCase> cases;
  for (const DrafterInfo& info : ListDrafters()) {
    const char* needs = info.needs == DrafterNeeds::kCorpus  ? R"(, "corpus": "SUFFIX_ARRAY")"
                        : info.needs == DrafterNeeds::kLog   ? R"(, "replay": {"log": "LOG"})"
                        : info.needs == DrafterNeeds::kHeads ? R"(, "heads": "HEADS")"
                                                             : "";
    cases.push_back({info.key, absl::StrCat(R"({"type": ")", info.key, "\"", needs, "}"),
                     info.needs == DrafterNeeds::kHeads});
  }
  cases.push_back({"ngram_tree", R"({"type": "ngram", "ngram": {"min": 1, "max": 3, "branches": 4}})"});
  cases.push_back({"ngram_cache_tree", R"({"type": "ngram_cache", "ngram_cache": {"branches": 0}})"});
  cases.push_back({"ngram_cache_corpus", R"({"type": "ngram_cache", "corpus": "NGRAM"})"});
  cases.push_back({"prediction_text", R"({"type": "prediction", "prediction": {"text": "beadabcdefabc"}})"});
  cases.push_back({"suffix_tree", R"({"type": "suffix", "suffix": {"branches": 0, "min_probability": 0}})"});
  cases.push_back({"suffix_corpus", R"({"type": "suffix", "corpus": "SUFFIX_ARRAY"})"});
  cases.push_back(
      {"sam_frequent", R"({"type": "sam", "sam": {"min_match": 1, "continuation": "frequent"}})"});
  for (const char* options :
       {R"("tree": {"type": "static", "widths": [2, 2, 1]}, "sample": "sampled")",
        R"("tree": {"type": "sequoia"}, "sample": "sampled_without_replacement")",
        R"("tree": {"type": "opt", "threshold": 0})", R"("tree": {"type": "auto"}, "sample": "coupled")",
        R"("tree": {"type": "dyspec"}, "sample": "sampled_without_replacement")"}) {
    const std::string name = "draft_tree_" + std::to_string(cases.size());
    cases.push_back({name, std::string(R"({"type": "draft_tree", )") + options + "}"});
  }
  cases.push_back({"sam_corpus", R"({"type": "sam", "sam": {"corpus_bias": 0}, "corpus": "SUFFIX_ARRAY"})"});
  cases.push_back({"rest_chain", R"({"type": "rest", "rest": {"branches": 1}, "corpus": "SUFFIX_ARRAY"})"});
  for (const char* options : {R"("tree": {"type": "static", "widths": [1, 1, 1]}, "sample": "sampled")",
                              R"("tree": {"type": "dyspec"}, "sample": "sampled_without_replacement")",
                              R"("tree": {"type": "sequoia"}, "sample": "coupled")"}) {
    const std::string name = "medusa_" + std::to_string(cases.size());
    cases.push_back({name, std::string(R"({"type": "medusa", "heads": "HEADS", )") + options + "}", true});
  }
  for (const char* options : {R"("tree": {"type": "static", "widths": [1, 1, 1]}, "sample": "sampled")",
                              R"("tree": {"type": "dyspec"}, "sample": "sampled_without_replacement")"}) {
    const std::string name = "hydra_" + std::to_string(cases.size());
    cases.push_back({name, std::string(R"({"type": "hydra", "heads": "HEADS", )") + options + "}", true});
  }
  for (const char* options :
       {R"("sample": "sampled")", R"("tree": {"top_k": 3})", R"("min_confidence": 0.02)",
        R"("tree": {"type": "sequoia"}, "sample": "sampled_without_replacement")"}) {
    for (const char* type : {"eagle", "mtp"}) {
      cases.push_back({absl::StrCat(type, "_", cases.size()),
                       absl::StrCat(R"({"type": ")", type, R"(", "heads": "HEADS", )", options, "}"), true});
    }
  }
  for (const char* options :
       {R"("sample": "sampled")", R"("sample": "coupled")", R"("min_confidence": 0.02)"}) {
    const std::string name = "dflash_" + std::to_string(cases.size());
    cases.push_back({name, std::string(R"({"type": "dflash", "heads": "HEADS", )") + options + "}", true});
  }
  return cases;
}

// One for all tests.
TestModel& Tiny() {
  static TestModel& model = *new TestModel(TinyTargetPath(), {}, 1);
  return model;
}

class DrafterContract : public testing::TestWithParam<ContractCase> {
 protected:
  DrafterContract() : drafter_(Make()) {}

  std::string Options() const {
    return absl::StrReplaceAll(GetParam().options, {{"SUFFIX_ARRAY", folder_.path() + "/suffix_array"},
                                                    {"NGRAM", folder_.path() + "/ngram"},
                                                    {"LOG", folder_.path()},
                                                    {"HEADS", heads_ ? heads_->path() : ""}});
  }
  std::unique_ptr<Drafter> Make() {
    if (GetParam().needs_heads && heads_ == nullptr) heads_ = RandomHeadsFor(GetParam().options, target_);
    const std::vector<TokenId> tokens = Joined({Context(50), {3, 2, 1, 0}, {0, 1, 2, 3, 4, 5, 0, 1, 2}});
    WriteBytes(folder_.path() + "/suffix_array", SuffixBytes(tokens, tokenizer_));
    WriteBytes(folder_.path() + "/ngram", NgramBytes(tokens, 1, tokenizer_));
    WriteBytes(folder_.path() + "/rounds.jsonl",
               R"({"unit": "p/plain/0", "request": 0, "emitted": [0, 1, 2, 3, 4, 5]})"
               "\n");
    return MakeDrafterOrDie(Options(), resources());
  }
  DrafterResources resources() {
    return {.target = &target_,
            .draft = &draft_,
            .pool = pool_,
            .target_tokenizer = &tokenizer_,
            .draft_tokenizer = &tokenizer_};
  }
  // One proposal for `committed` by a sequence that has seen what it has seen.
  TokenTree Propose(Proposing& sequence, const std::vector<TokenId>& committed, int budget) {
    const Features features = FeaturesBefore(committed);
    const BlockTable pages = TargetPages(committed);
    return sequence.DraftTree(committed, {.budget = budget,
                                          .max_depth = max_depth_,
                                          .sampling = sampling_,
                                          .target_table = &pages,
                                          .features = features.rows > 0 ? &features : nullptr});
  }
  // Of all rows before the root; empty for drafters on heads, which have no use for them.
  BlockTable TargetPages(const std::vector<TokenId>& committed) {
    const std::size_t rows = GetParam().needs_heads ? 0 : committed.size() - 1;
    return PagesOf(target_, *pool_, std::span(committed).first(rows));
  }
  // Of all rows before the root, where the drafter wants any.
  Features FeaturesBefore(const std::vector<TokenId>& committed) {
    if (drafter_->taps().empty() || committed.size() < 2) return {};
    const std::vector<TokenId> longest = Context(60);
    const int rows = static_cast<int>(committed.size()) - 1;
    if (!std::equal(committed.begin(), committed.end() - 1, longest.begin())) {
      return FeaturesOf(target_, *pool_, std::span(committed).first(rows), drafter_->taps());
    }
    if (features_.rows == 0) features_ = FeaturesOf(target_, *pool_, longest, drafter_->taps());
    Features first = features_;
    first.rows = rows;
    for (std::vector<float>& tap : first.taps) tap.resize(static_cast<std::size_t>(rows) * first.width);
    return first;
  }
  static std::vector<TokenId> Context(int length) {
    std::vector<TokenId> context;
    for (int i = 0; i < length; ++i) context.push_back((i * 7 + i / 3) % kVocab);
    return context;
  }

  std::unique_ptr<KvPool> table_pool_ = *KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16});
  KvPool* pool_ = GetParam().needs_heads ? Tiny().pool.get() : table_pool_.get();
  TableModel table_{*table_pool_, ContextTable::Random(kVocab, 2, 1)};
  Model& target_ = GetParam().needs_heads ? Tiny().model() : table_;
  TableModel draft_{*pool_, ContextTable::Random(kVocab, 1, 2)};
  ToyTokenizer tokenizer_{kVocab};
  TemporaryFolder folder_{"contract"};
  std::unique_ptr<HeadFolder> heads_;
  Features features_;  // of the longest context
  std::unique_ptr<Drafter> drafter_;
  Sampling sampling_{.seed = 5};
  int max_depth_ = 7;
};

void ExpectWellFormed(const TokenTree& tree, const Drafter& drafter, const Sampling& sampling, int vocab) {
  if (drafter.chains_only()) {
    EXPECT_TRUE(tree.is_chain());
  }
  for (int node = 0; node < tree.size(); ++node) {
    EXPECT_TRUE(tree.node(node).token >= 0 && tree.node(node).token < vocab);
    std::vector<TokenId> siblings;
    for (const int child : tree.Children(node)) siblings.push_back(tree.node(child).token);
    if (siblings.empty()) continue;
    EXPECT_EQ(tree.proposal(node), drafter.proposal(sampling));
    EXPECT_EQ(tree.q(node) != nullptr, tree.proposal(node) != Proposal::kDeterministic);
    std::sort(siblings.begin(), siblings.end());
    EXPECT_TRUE(tree.proposal(node) == Proposal::kSampled ||
                std::adjacent_find(siblings.begin(), siblings.end()) == siblings.end());
  }
}

TEST_P(DrafterContract, TreesAreWellFormedAndWithinBudgetAndDepth) {
  for (const float temperature : {0.0f, 1.0f}) {
    sampling_.temperature = temperature;
    Proposing sequence(*drafter_);
    for (const int length : {1, 2, 3, 17, 40}) {
      for (const int budget : {1, 2, 7}) {
        for (const int depth : {budget, 3, 1}) {
          // Chains come with a depth that their budget fits.
          if (drafter_->chains_only() && depth < budget) continue;
          max_depth_ = depth;
          const TokenTree tree = Propose(sequence, Context(length), budget);
          EXPECT_EQ(tree.node(0).token, Context(length).back());
          EXPECT_LE(tree.num_drafted(), budget);
          for (const TokenTree::Node& node : tree.nodes()) EXPECT_LE(node.depth, depth);
          ExpectWellFormed(tree, *drafter_, sampling_, target_.vocab_size());
        }
      }
    }
  }
}

TEST_P(DrafterContract, TheSameSeedGivesTheSameTreeWhateverTheStateSawBefore) {
  for (const float temperature : {0.0f, 1.0f}) {
    sampling_.temperature = temperature;
    Proposing fresh(*drafter_);
    const std::string expected = TreeText(Propose(fresh, Context(30), 5));
    Proposing used(*drafter_);
    Propose(used, Context(4), 3);  // rounds were skipped since
    Propose(used, Context(21), 5);
    std::vector<TokenId> other = Context(26);
    std::fill(other.begin() + 9, other.end(), TokenId{0});  // a text that turned out otherwise
    Propose(used, other, 5);
    Propose(used, Context(12), 0);  // only catching up
    EXPECT_EQ(TreeText(Propose(used, Context(30), 5)), expected);
    EXPECT_EQ(TreeText(Propose(used, Context(30), 5)), expected) << "asked twice";
  }
}

TEST_P(DrafterContract, EveryTokenInTurnIsAsAllAtOnce) {
  Proposing sequence(*drafter_);
  for (int length = 1; length <= 60; ++length) {
    Proposing fresh(*drafter_);
    EXPECT_EQ(TreeText(Propose(sequence, Context(length), 6)), TreeText(Propose(fresh, Context(length), 6)))
        << length;
  }
}

TEST_P(DrafterContract, StartsColdAfterOtherRequests) {
  Proposing fresh(*drafter_);
  const std::string expected = TreeText(Propose(fresh, Context(20), 6));
  // A form that is chosen by the clock may be another one the next time.
  const bool timed = GetParam().options.find("auto") != std::string::npos;
  const auto another = Make();
  Drafter& used = timed ? *drafter_ : *another;
  for (int length = 30; length <= 60; ++length) {
    Proposing other(used);
    Propose(other, Context(length), 6);
  }
  Proposing late(used);
  EXPECT_EQ(TreeText(Propose(late, Context(20), 6)), expected);
}

TEST_P(DrafterContract, SequencesTogetherAreAsEachAlone) {
  sampling_.temperature = 1;
  std::vector<std::unique_ptr<DrafterState>> states;
  std::vector<std::vector<TokenId>> contexts;
  std::vector<BlockTable> pages;
  std::vector<TokenTree> trees;
  std::vector<Features> features;
  std::vector<DraftTask> tasks;
  for (int i = 0; i < 5; ++i) {
    states.push_back(*drafter_->Open());
    contexts.push_back(Context(1 + 9 * i));
    pages.push_back(TargetPages(contexts.back()));
    trees.emplace_back(contexts.back().back());
    features.push_back(FeaturesBefore(contexts.back()));
  }
  for (int i = 0; i < 5; ++i) {
    tasks.push_back({.state = states[i].get(),
                     .committed = contexts[i],
                     .prompt_length = 1,
                     .sampling = &sampling_,
                     .request = 3,
                     .budget = 1 + i,
                     .max_depth = max_depth_,
                     .target_table = &pages[i],
                     .features = features[i].rows > 0 ? &features[i] : nullptr,
                     .tree = &trees[i],
                     .status = absl::OkStatus()});
  }
  ASSERT_TRUE(drafter_->Propose(tasks).ok());
  for (int i = 0; i < 5; ++i) {
    Proposing alone(*drafter_);
    EXPECT_EQ(TreeText(trees[i]), TreeText(Propose(alone, contexts[i], 1 + i))) << "sequence " << i;
  }
}

TEST_P(DrafterContract, ReleasesEverythingWithTheSequence) {
  const auto before = pool_->usage().blocks_in_use;
  {
    Proposing sequence(*drafter_);
    Propose(sequence, Context(50), 6);
  }
  EXPECT_EQ(pool_->usage().blocks_in_use, before);
}

TEST_P(DrafterContract, StatesMayOutliveTheDrafter) {
  const std::unique_ptr<DrafterState> state = *drafter_->Open();
  drafter_.reset();
}

TEST_P(DrafterContract, RunningOutOfMemoryEndsOneTaskOnly) {
  sampling_.temperature = 0;
  const std::vector<TokenId> context = Context(40);
  const BlockTable pages = TargetPages(context);
  const Features features = FeaturesBefore(context);
  BlockTable hog(*pool_, target_.kv_layout_id());
  BlockTable draft_hog(*pool_, draft_.kv_layout_id());
  while (hog.Reserve(kBlockTokens).ok()) hog.CommitAll();
  while (draft_hog.Reserve(kBlockTokens).ok()) draft_hog.CommitAll();
  const std::unique_ptr<DrafterState> state = *drafter_->Open();
  TokenTree tree(context.back());
  DraftTask task{.state = state.get(),
                 .committed = context,
                 .prompt_length = 1,
                 .sampling = &sampling_,
                 .request = 3,
                 .budget = 4,
                 .max_depth = 4,
                 .target_table = &pages,
                 .features = features.rows > 0 ? &features : nullptr,
                 .tree = &tree,
                 .status = absl::OkStatus()};
  EXPECT_TRUE(drafter_->Propose({&task, 1}).ok()) << "the step goes on";
  EXPECT_TRUE(task.status.ok() || absl::IsResourceExhausted(task.status));
}

TEST_P(DrafterContract, GreedyTextIsThatOfPlainDecoding) {
  Request request;
  request.prompt = {1, 2, 3};
  request.verifier = &Rule("greedy");
  request.max_new_tokens = 50;
  const std::vector<TokenId> plain = Complete(target_, *pool_, request).result.output;
  request.drafter = drafter_.get();
  for (const int k : {1, 2, 5}) {
    request.num_speculative_tokens = k;
    EXPECT_EQ(Complete(target_, *pool_, request).result.output, plain) << "K = " << k;
  }
}

TEST_P(DrafterContract, AnUnknownOptionIsRefusedByName) {
  Json options = *ParseJson(Options(), "test");
  options["nonsense"] = 1;
  const auto made = MakeDrafter(options, resources());
  ASSERT_FALSE(made.ok());
  EXPECT_NE(std::string(made.status().message()).find("nonsense"), std::string::npos) << made.status();
}

INSTANTIATE_TEST_SUITE_P(Registry, DrafterContract, testing::ValuesIn(ContractCases()),
                         [](const auto& info) { return info.param.name; });

TEST(DrafterRegistry, NamesWhatItKnows) {
  const auto made = MakeDrafter(*ParseJson(R"({"type": "ngrm"})", "test"), {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(std::string(made.status().message()).find("ngram"), std::string::npos) << made.status();
}

TEST(DrafterRegistry, ADraftModelThatIsMissingIsNamed) {
  const auto made = MakeDrafter(*ParseJson(R"({"type": "draft_model"})", "test"), {});
  ASSERT_FALSE(made.ok());
  EXPECT_NE(std::string(made.status().message()).find("draft model"), std::string::npos) << made.status();
}

}  // namespace
}  // namespace forerun
