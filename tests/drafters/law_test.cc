// `rejection` through the real engine: the law of the first, the second and a later token is the target's
// own. And the test has teeth: broken rules fail it.
//
// Power: 60,000 texts, 8 cells or fewer; a shift of 0.02 in total variation gives a p-value below 1e-9.
#include <fstream>
#include <functional>

#include "core/model/table_model.h"
#include "experiments/lossless/chi_square.h"
#include "gtest/gtest.h"
#include "tests/support/completion.h"
#include "tests/support/program.h"

namespace forerun {
namespace {

constexpr int kVocab = 6;
constexpr int kTexts = 60000;
constexpr int kTokens = 6;
constexpr double kAlarm = 1e-7;  // family-wise false alarm below 1e-5 over all checks here

const std::vector<TokenId> kPrompt = {1, 3};

// The target's law of token `index` after the prompt, by enumeration.
std::vector<double> ExpectedLaw(const ContextTable& table, const Sampling& sampling, int index) {
  std::vector<double> law(kVocab, 0.0);
  const std::function<void(std::vector<TokenId>, int, double)> walk = [&](std::vector<TokenId> context,
                                                                          int depth, double mass) {
    std::vector<float> logits;
    for (const double p : table.Row(context)) logits.push_back(static_cast<float>(std::log(p)));
    const Distribution p = Distribution::FromLogits(logits, sampling, {});
    for (const TokenId token : p.tokens()) {
      if (depth == index) {
        law[token] += mass * p[token];
      } else {
        std::vector<TokenId> next = context;
        next.push_back(token);
        walk(std::move(next), depth + 1, mass * p[token]);
      }
    }
  };
  walk(kPrompt, 0, 1.0);
  return law;
}

class EngineLaw : public testing::Test {
 protected:
  EngineLaw()
      : pool_(*KvPool::Create({.budget_bytes = 8 << 20, .slab_bytes = 1 << 16})),
        target_(*pool_, ContextTable::Random(kVocab, 2, 11, true)),
        draft_(*pool_, ContextTable::Random(kVocab, 1, 12)) {}

  // The least p-value over the first, second and last token.
  double LeastPValue(const Verifier& rule, const char* drafter_json, const Sampling& sampling) {
    const auto drafter =
        MakeDrafterOrDie(drafter_json, {.target = &target_, .draft = &draft_, .pool = pool_.get()});
    std::vector<std::vector<int64_t>> counts(kTokens, std::vector<int64_t>(kVocab, 0));
    Request request;
    request.prompt = kPrompt;
    request.drafter = drafter.get();
    request.verifier = &rule;
    request.num_speculative_tokens = 3;
    request.sampling = sampling;
    request.max_new_tokens = kTokens;
    const std::vector<RequestResult> results =
        CompleteMany(target_, *pool_, request, kTexts, {.max_sequences = 64, .max_batch_rows = 512});
    for (const RequestResult& result : results) {
      for (int i = 0; i < kTokens; ++i) ++counts[i][result.output[i]];
    }
    double least = 1;
    for (const int index : {0, 1, kTokens - 1}) {
      least = std::min(least, ChiSquarePValue(counts[index], ExpectedLaw(target_.table(), sampling, index)));
    }
    return least;
  }

  std::unique_ptr<KvPool> pool_;
  TableModel target_, draft_;
};

constexpr char kSampled[] = R"({"type": "draft_model", "sample": "sampled"})";
constexpr char kCoupled[] = R"({"type": "draft_model", "sample": "coupled"})";
constexpr char kGreedy[] = R"({"type": "draft_model", "sample": "greedy"})";
constexpr char kConfident[] = R"({"type": "draft_model", "sample": "sampled", "min_confidence": 0.4})";
constexpr char kCascade[] = R"({"type": "cascade", "cascade": {"min": 1, "max": 2, "direct_min": 2}})";
constexpr char kEarlyExit[] = R"({"type": "early_exit", "sample": "sampled"})";
constexpr char kShared[] = R"({"type": "universal", "method": "intersection", "sample": "sampled"})";
const Sampling kPlain{.temperature = 1, .seed = 77};
const Sampling kWarped{.temperature = 0.7f, .top_k = 4, .top_p = 0.9f, .seed = 78};

TEST_F(EngineLaw, SlowPlainSampling) {
  EXPECT_GT(LeastPValue(Rule("exact_match"), R"({"type": "none"})", kPlain), kAlarm);
}
TEST_F(EngineLaw, SlowExactMatch) { EXPECT_GT(LeastPValue(Rule("exact_match"), kCoupled, kWarped), kAlarm); }
TEST_F(EngineLaw, SlowRejectionOfSampledDrafts) {
  EXPECT_GT(LeastPValue(Rule("rejection"), kSampled, kPlain), kAlarm);
}
TEST_F(EngineLaw, SlowRejectionOfWarpedDrafts) {
  EXPECT_GT(LeastPValue(Rule("rejection"), kSampled, kWarped), kAlarm);
}
TEST_F(EngineLaw, SlowRejectionOfCoupledDrafts) {
  EXPECT_GT(LeastPValue(Rule("rejection"), kCoupled, kPlain), kAlarm);
}
TEST_F(EngineLaw, SlowRejectionOfGreedyDrafts) {
  EXPECT_GT(LeastPValue(Rule("rejection"), kGreedy, kPlain), kAlarm);
}
TEST_F(EngineLaw, SlowRejectionOfCascades) {
  EXPECT_GT(LeastPValue(Rule("rejection"), kCascade, kPlain), kAlarm);
}
TEST_F(EngineLaw, SlowRejectionWithEarlyStop) {
  EXPECT_GT(LeastPValue(Rule("rejection"), kConfident, kPlain), kAlarm);
}

TEST_F(EngineLaw, SlowRejectionOfTheTargetsFirstLayer) {
  EXPECT_GT(LeastPValue(Rule("rejection"), kEarlyExit, kWarped), kAlarm);
}
TEST_F(EngineLaw, SlowRejectionOfSharedTokens) {
  EXPECT_GT(LeastPValue(Rule("rejection"), kShared, kPlain), kAlarm);
}

// --- negative controls: one mistake each ---

enum class Mistake { kSkippedResidual, kWrongQ, kUnwarpedBonus, kReusedCoin };

class BrokenRejection final : public Verifier {
 public:
  explicit BrokenRejection(Mistake mistake) : mistake_(mistake) {}
  absl::string_view name() const override { return "broken"; }
  absl::string_view kept_for() const override { return "no draft"; }
  bool KeepsLaw(const DraftKind&, const Sampling&) const override { return true; }
  Verdict Verify(const TokenTree& tree, const TargetRows& target, Randoms& randoms) const override {
    Verdict verdict;
    for (int node = 0;; ++node) {
      const Distribution p = target.At(node);
      if (node + 1 == tree.size()) {
        // The unwarped bonus is stood in for by the flat distribution over p's support.
        const std::vector<double> flat(p.tokens().size(), 1.0);
        verdict.next = mistake_ == Mistake::kUnwarpedBonus
                           ? p.tokens()[Distribution::FromWeights(flat).DrawAt(u(randoms, node))]
                           : randoms.Draw(node, Purpose::kBonus, p);
        return verdict;
      }
      const TokenId token = tree.node(node + 1).token;
      const Distribution& q = mistake_ == Mistake::kWrongQ ? *tree.q(0) : *tree.q(node);
      const double ratio = q[token] > 0 ? std::min(1.0, p[token] / q[token]) : 1.0;
      if (!randoms.Coin(node + 1, ratio)) {
        const Distribution residual = p.MinusClamped(q);
        const bool skip = mistake_ == Mistake::kSkippedResidual || residual.empty();
        verdict.next = mistake_ == Mistake::kReusedCoin
                           ? DrawWithTheCoin(randoms, node + 1, residual)
                           : randoms.Draw(node + 1, Purpose::kResidual, skip ? p : residual);
        return verdict;
      }
      verdict.accepted.push_back(node + 1);
    }
  }

 private:
  // A uniform from the outside of the interface: a fair coin, digit by digit.
  static double u(Randoms& randoms, int node) {
    double value = 0;
    for (int digit = 1; digit <= 20; ++digit)
      value += randoms.Coin(1000 * node + 100 + digit, 0.5) * std::ldexp(1.0, -digit);
    return value;
  }
  // The uniform that has just rejected the token decides the correction too.
  static TokenId DrawWithTheCoin(Randoms& randoms, int node, const Distribution& residual) {
    double below = 0;
    for (const TokenId token : residual.tokens()) {
      below += residual[token];
      if (randoms.Coin(node, below)) return token;
    }
    return residual.tokens().back();
  }
  Mistake mistake_;
};

TEST_F(EngineLaw, SlowCatchesASkippedResidual) {
  EXPECT_LT(LeastPValue(BrokenRejection(Mistake::kSkippedResidual), kSampled, kPlain), kAlarm);
}
TEST_F(EngineLaw, SlowCatchesAWrongQ) {
  EXPECT_LT(LeastPValue(BrokenRejection(Mistake::kWrongQ), kSampled, kPlain), kAlarm);
}
TEST_F(EngineLaw, SlowCatchesAnUnwarpedBonus) {
  EXPECT_LT(LeastPValue(BrokenRejection(Mistake::kUnwarpedBonus), kSampled, kPlain), kAlarm);
}
TEST_F(EngineLaw, SlowCatchesAReusedCoin) {
  EXPECT_LT(LeastPValue(BrokenRejection(Mistake::kReusedCoin), kSampled, kPlain), kAlarm);
}

// Half the words are never drafted: all their mass comes from residuals and bonus tokens.
TEST_F(EngineLaw, SlowRejectionOfShortlistedDrafts) {
  const TemporaryFolder folder("law");
  const std::string path = folder.path() + "/shortlist.json";
  std::ofstream(path) << R"({"ranges": [[1, 2], [4, 4]], "vocab_size": 6})";
  const std::string json = R"({"type": "draft_model", "sample": "sampled", "shortlist": ")" + path + R"("})";
  EXPECT_GT(LeastPValue(Rule("rejection"), json.c_str(), kPlain), kAlarm);
  EXPECT_LT(LeastPValue(BrokenRejection(Mistake::kSkippedResidual), json.c_str(), kPlain), kAlarm);
}

}  // namespace
}  // namespace forerun
