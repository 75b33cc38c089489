// The golden signature: what every drafter and rule does on the toy models must not change unnoticed. A
// commit that means to change it writes the new value into tests/golden/signature.txt and says why.
#include "experiments/lossless/signature.h"

#include <fstream>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/verify/registry.h"
#include "drafters/registry.h"
#include "gtest/gtest.h"
#include "tests/support/program.h"

namespace forerun {
namespace {

std::string Golden() {
  std::ifstream file(FORERUN_SOURCE_DIR "/tests/golden/signature.txt");
  std::string line;
  EXPECT_TRUE(std::getline(file, line));
  return line;
}

std::vector<SignaturePart> PartsOf(uint64_t seed) {
  const absl::StatusOr<std::vector<SignaturePart>> parts = SignatureParts(seed);
  EXPECT_TRUE(parts.ok()) << parts.status();
  return parts.ok() ? *parts : std::vector<SignaturePart>{};
}

std::string Listed(const std::vector<SignaturePart>& parts) {
  std::string text;
  for (const SignaturePart& part : parts)
    absl::StrAppend(&text, HashText(part.hash), "  ", part.pairing, "\n");
  return text;
}

TEST(Signature, IsTheGoldenOne) {
  const std::vector<SignaturePart> parts = PartsOf(kSignatureSeed);
  EXPECT_EQ(SignatureOf(parts), Golden()) << Listed(parts);
}

TEST(Signature, CoversEveryDrafterAndRule) {
  const std::string listed = Listed(PartsOf(kSignatureSeed));
  for (const DrafterInfo& drafter : ListDrafters()) {
    if (drafter.needs_files()) continue;
    EXPECT_TRUE(absl::StrContains(listed, absl::StrCat("  ", drafter.key, ", exact_match, "))) << drafter.key;
  }
  for (const RuleInfo& rule : ListRules())
    EXPECT_TRUE(absl::StrContains(listed, absl::StrCat(", ", rule.name, ", temperature 1\n")) ||
                absl::StrContains(listed, absl::StrCat(", ", rule.name, ", greedy\n")))
        << rule.name;
}

// A hash that ignored what it should cover would be the same for pairings that differ.
TEST(Signature, TellsPairingsAndSeedsApart) {
  const std::vector<SignaturePart> parts = PartsOf(kSignatureSeed), others = PartsOf(kSignatureSeed + 1);
  std::set<std::string> drafters;
  std::set<uint64_t> hashes;
  for (const SignaturePart& part : parts) {
    if (!absl::EndsWith(part.pairing, "rejection, temperature 1")) continue;
    // Without a long match, which no text at this temperature has, the cascade writes the draft model's
    // chain; so does `universal` where ids stand for themselves. Of two layers `layer_skip` keeps both: the
    // oracle's chain.
    if (absl::StartsWith(part.pairing, "cascade") || absl::StartsWith(part.pairing, "universal") ||
        absl::StartsWith(part.pairing, "layer_skip"))
      continue;
    drafters.insert(part.pairing);
    hashes.insert(part.hash);
  }
  EXPECT_GE(drafters.size(), 5u);
  EXPECT_EQ(hashes.size(), drafters.size());
  ASSERT_EQ(parts.size(), others.size());
  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_NE(parts[i].hash, others[i].hash) << parts[i].pairing;
}

TEST(Signature, TheProgramPrintsIt) {
  const ProgramResult result = RunForerun({"signature"}, ::testing::TempDir());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, Golden() + "\n");
}

}  // namespace
}  // namespace forerun
