// Distributions made from logits, against the definition written out as plainly as it can be.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/random.h"
#include "core/sampling/distribution.h"
#include "core/sampling/sampling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace forerun {
namespace {

using testing::ElementsAre;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Entry {
  TokenId token;
  double probability;
};

void Renormalise(std::vector<Entry>& entries) {
  double sum = 0;
  for (const Entry& entry : entries) sum += entry.probability;
  for (Entry& entry : entries) entry.probability /= sum;
}

std::vector<float> PlainPenalties(std::vector<float> logits, const Sampling& s, const History& history) {
  for (TokenId token = 0; token < static_cast<TokenId>(logits.size()); ++token) {
    const auto in = [token](std::span<const TokenId> part) {
      return std::count(part.begin(), part.end(), token);
    };
    const auto output = in(history.output) + in(history.path);
    float& logit = logits[token];
    if (in(history.prompt) + output > 0)
      logit = logit > 0 ? logit / s.repetition_penalty : logit * s.repetition_penalty;
    if (output > 0) logit -= s.presence_penalty + s.frequency_penalty * static_cast<float>(output);
    for (const auto& [biased, bias] : s.logit_bias) logit += biased == token ? bias : 0;
  }
  return logits;
}

// temperature > 0, finite logits.
std::vector<Entry> PlainWarp(const std::vector<float>& logits, const Sampling& s) {
  const double best = *std::max_element(logits.begin(), logits.end());
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    entries.push_back({static_cast<TokenId>(i), std::exp((logits[i] - best) / s.temperature)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.probability > b.probability; });
  if (s.top_k > 0) entries.resize(std::min<std::size_t>(s.top_k, entries.size()));
  Renormalise(entries);
  double sum = 0;
  std::size_t kept = 0;
  while (kept < entries.size() && (s.top_p == 1 || sum < s.top_p)) sum += entries[kept++].probability;
  entries.resize(kept);
  Renormalise(entries);
  const double floor = s.min_p * entries[0].probability;
  std::erase_if(entries, [floor](const Entry& entry) { return entry.probability < floor; });
  Renormalise(entries);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.token < b.token; });
  return entries;
}

void ExpectSame(const Distribution& actual, const std::vector<Entry>& expected) {
  std::vector<TokenId> tokens;
  for (const Entry& entry : expected) tokens.push_back(entry.token);
  ASSERT_EQ(std::vector<TokenId>(actual.tokens().begin(), actual.tokens().end()), tokens);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual.probabilities()[i], expected[i].probability, 1e-12);
  }
}

// Normal-like logits; `step` > 0 rounds them to multiples of it, so that many are equal.
std::vector<float> RandomLogits(int vocab, double spread, double step, uint64_t seed) {
  const RandomStream stream({.seed = seed});
  std::vector<float> logits;
  for (int i = 0; i < vocab; ++i) {
    double value = -3;
    for (int j = 0; j < 6; ++j) value += stream.Uniform(6 * i + j);
    value *= spread;
    logits.push_back(static_cast<float>(step > 0 ? std::round(value / step) * step : value));
  }
  return logits;
}

TEST(FromLogits, EveryCombinationOfWarpsAgreesWithTheDefinition) {
  int cases = 0;
  for (const int vocab : {1, 2, 7, 100, 3000}) {
    for (const double step : {0.0, 0.5}) {
      const std::vector<float> logits = RandomLogits(vocab, 3, step, vocab);
      for (const float temperature : {0.3f, 1.0f, 2.0f}) {
        for (const int top_k : {0, 1, 5, 600, 5000}) {
          for (const float top_p : {1.0f, 0.95f, 0.6f, 0.01f}) {
            for (const float min_p : {0.0f, 0.07f, 1.0f}) {
              const Sampling s = {.temperature = temperature, .top_k = top_k, .top_p = top_p, .min_p = min_p};
              SCOPED_TRACE(testing::Message()
                           << "vocab " << vocab << " step " << step << " T " << temperature << " top_k "
                           << top_k << " top_p " << top_p << " min_p " << min_p);
              ExpectSame(Distribution::FromLogits(logits, s, {}), PlainWarp(logits, s));
              ++cases;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(cases, 1800);
}

// A limit that limits nothing looks at every word; without one, only the likely words are looked at.
TEST(FromLogits, LookingAtTheLikelyWordsAloneIsTheSame) {
  for (const uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const std::vector<float> logits = RandomLogits(20000, 1 + static_cast<double>(seed), 0, seed);
    for (const float temperature : {0.4f, 1.0f, 1.7f}) {
      for (const float top_p : {1.0f, 0.999f, 0.9f, 0.3f}) {
        for (const float min_p : {0.0f, 0.001f, 0.2f}) {
          const Sampling likely = {.temperature = temperature, .top_p = top_p, .min_p = min_p};
          Sampling all = likely;
          all.top_k = 20000;
          const Distribution expected = Distribution::FromLogits(logits, all, {});
          const Distribution found = Distribution::FromLogits(logits, likely, {});
          ASSERT_TRUE(std::ranges::equal(found.tokens(), expected.tokens()))
              << "seed " << seed << " T " << temperature << " top_p " << top_p << " min_p " << min_p << ": "
              << found.tokens().size() << " and " << expected.tokens().size();
          EXPECT_TRUE(std::ranges::equal(found.probabilities(), expected.probabilities()));
        }
      }
    }
  }
}

TEST(FromLogits, PenaltiesAgreeWithTheDefinition) {
  const std::vector<float> logits = RandomLogits(50, 2, 0, 3);
  const std::vector<TokenId> prompt = {1, 2, 3, 3}, output = {3, 4, 5, 5, 5}, path = {5, 6};
  const History history = {prompt, output, path};
  for (const float repetition : {1.0f, 1.3f, 0.8f}) {
    for (const float presence : {0.0f, 0.4f, -0.2f}) {
      for (const float frequency : {0.0f, 0.3f}) {
        for (const bool biased : {false, true}) {
          Sampling s = {.temperature = 0.9f,
                        .top_k = 20,
                        .repetition_penalty = repetition,
                        .presence_penalty = presence,
                        .frequency_penalty = frequency};
          if (biased) s.logit_bias = {{5, 2.5f}, {40, -100.0f}};
          const std::vector<float> adjusted = PlainPenalties(logits, s, history);
          ExpectSame(Distribution::FromLogits(logits, s, history), PlainWarp(adjusted, s));
          s.temperature = 0;
          const auto best = std::max_element(adjusted.begin(), adjusted.end()) - adjusted.begin();
          EXPECT_EQ(Distribution::FromLogits(logits, s, history).tokens()[0], best);
        }
      }
    }
  }
}

TEST(FromLogits, PenaltiesByHand) {
  const std::vector<float> logits = {2, -2, 1, 0};
  const std::vector<TokenId> prompt = {0, 1}, output = {2, 2};
  const Sampling s = {
      .temperature = 1, .repetition_penalty = 2, .presence_penalty = 0.25, .frequency_penalty = 0.125};
  // 2 / 2; -2 * 2; 1 / 2 - 0.25 - 2 * 0.125; 0.
  const Distribution p = Distribution::FromLogits(logits, s, {prompt, output, {}});
  const double sum = std::exp(1) + std::exp(-4) + 1 + 1;
  EXPECT_NEAR(p[0], std::exp(1) / sum, 1e-15);
  EXPECT_NEAR(p[1], std::exp(-4) / sum, 1e-15);
  EXPECT_NEAR(p[2], 1 / sum, 1e-15);
  EXPECT_NEAR(p[3], 1 / sum, 1e-15);
}

// A draft may know fewer words than the target that wrote the history.
TEST(FromLogits, TokensBeyondTheRowArePassedOver) {
  const std::vector<float> logits = {1, 2};
  const std::vector<TokenId> output = {7, -1};
  Sampling s = {.temperature = 1, .repetition_penalty = 2, .frequency_penalty = 1};
  s.logit_bias = {{9, 5.0f}};
  EXPECT_EQ(Distribution::FromLogits(logits, s, {output, output, output})[1],
            Distribution::FromLogits(logits, {.temperature = 1}, {})[1]);
}

TEST(FromLogits, GreedyTakesTheLowestOfEqualBest) {
  const Distribution p = Distribution::FromLogits(std::vector<float>{1, 3, 3, 2}, {}, {});
  EXPECT_THAT(p.tokens(), ElementsAre(1));
  EXPECT_EQ(p[1], 1);
}

TEST(FromLogits, TiesAtTheEdgesKeepTheLowerIds) {
  const std::vector<float> equal(4, 1.5f);
  EXPECT_THAT(Distribution::FromLogits(equal, {.temperature = 1, .top_k = 2}, {}).tokens(),
              ElementsAre(0, 1));
  EXPECT_THAT(Distribution::FromLogits(equal, {.temperature = 1, .top_p = 0.5}, {}).tokens(),
              ElementsAre(0, 1));
  EXPECT_THAT(Distribution::FromLogits(equal, {.temperature = 1, .top_p = 0.01f}, {}).tokens(),
              ElementsAre(0));
  EXPECT_THAT(Distribution::FromLogits(equal, {.temperature = 1, .top_p = 0.51f}, {}).tokens(),
              ElementsAre(0, 1, 2));
  EXPECT_EQ(Distribution::FromLogits(equal, {.temperature = 1, .min_p = 1}, {}).tokens().size(), 4u);
}

TEST(FromLogits, NotANumberIsMinusInfinity) {
  for (const float temperature : {0.0f, 1.0f}) {
    const Sampling s = {.temperature = temperature};
    EXPECT_THAT(Distribution::FromLogits(std::vector<float>{kNan, 2, kNan, -kInfinity}, s, {}).tokens(),
                ElementsAre(1));
    EXPECT_THAT(Distribution::FromLogits(std::vector<float>{kNan, -kInfinity}, s, {}).tokens(),
                ElementsAre(0));
    EXPECT_THAT(Distribution::FromLogits(std::vector<float>{1, kInfinity, kNan, kInfinity}, s, {}).tokens(),
                ElementsAre(1));
  }
  const Distribution p = Distribution::FromLogits(std::vector<float>{0, kNan, 0},
                                                  {.temperature = 1, .top_k = 3, .top_p = 0.9f}, {});
  EXPECT_THAT(p.tokens(), ElementsAre(0, 2));
}

TEST(FromLogits, ExtremeTemperaturesStayFinite) {
  const std::vector<float> logits = {3e38f, -3e38f, 2.9e38f};
  EXPECT_THAT(Distribution::FromLogits(logits, {.temperature = 1e-38f}, {}).tokens(), ElementsAre(0));
  const Distribution flat = Distribution::FromLogits(std::vector<float>{0, 1}, {.temperature = 3e38f}, {});
  EXPECT_NEAR(flat[0], 0.5, 1e-12);
}

}  // namespace
}  // namespace forerun
