// Rounds as the engine plays them, with random trees and random verdicts, beside a plain model: a list of
// what each committed position must hold. No model, no drafter: tokens stand in for keys and values.
#include <algorithm>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/engine/sequence.h"
#include "gtest/gtest.h"
#include "tests/support/kv_tokens.h"

namespace forerun {
namespace {

constexpr int kMostNodes = 24, kMostSequences = 6, kContext = 300;
constexpr TokenId kEnd = 7;

class RoundWorld {
 public:
  // `takes_siblings`: the mistake that the model expects each node's elder sibling to be kept.
  explicit RoundWorld(uint64_t seed, bool takes_siblings = false)
      : random_(seed),
        takes_siblings_(takes_siblings),
        pool_(*KvPool::Create({.budget_bytes = 4 * 1024, .slab_bytes = 1024})),
        layout_id_(*pool_->RegisterLayout(layout_)) {}

  // What went wrong first, or nothing.
  std::optional<std::string> Run(int rounds) {
    while (rounds_ < rounds) {
      if (live_.size() < kMostSequences && Pick(3) == 0) live_.emplace_back(NewLive());
      for (auto live = live_.begin(); live != live_.end();) {
        if (const auto mistake = Play(*live)) return absl::StrCat("round ", rounds_, ": ", *mistake);
        live = live->sequence->finished() ? live_.erase(live) : std::next(live);
      }
    }
    live_.clear();
    if (pool_->usage().blocks_in_use != 0 || pool_->usage().slab_bytes_in_use != 0) return "blocks leaked";
    return std::nullopt;
  }

  int refused() const { return refused_; }
  int moved() const { return moved_; }
  int ended() const { return ended_; }

 private:
  struct Live {
    std::unique_ptr<Sequence> sequence;
    std::vector<TokenId> tokens;   // prompt and output
    std::vector<uint32_t> values;  // of every committed position
  };

  int Pick(int count) { return static_cast<int>(random_() % count); }

  Live NewLive() {
    Request request;
    request.id = ++last_id_;
    request.prompt = {static_cast<TokenId>(10 + Pick(90))};
    request.max_new_tokens = 1 + Pick(200);
    request.end_tokens = {kEnd};
    Live live;
    live.tokens = request.prompt;
    live.sequence = std::make_unique<Sequence>(std::move(request), *pool_, layout_id_, kContext);
    return live;
  }

  TokenTree RandomTree(TokenId root) {
    TokenTree tree(root);
    const int nodes = Pick(kMostNodes), spread = 1 + Pick(6);
    for (int node = 1; node <= nodes; ++node) {
      const int parent = std::max(0, tree.size() - 1 - Pick(spread));
      tree.SetProposal(parent, Proposal::kSampled, Distribution::PointMass(kEnd));
      tree.Add(parent, Pick(400) == 0 ? kEnd : static_cast<TokenId>(10 + Pick(90)));
    }
    return tree;
  }

  Verdict RandomVerdict(const TokenTree& tree) {
    Verdict verdict;
    for (int node = Pick(tree.size()); node > 0; node = tree.node(node).parent)
      verdict.accepted.push_back(node);
    std::reverse(verdict.accepted.begin(), verdict.accepted.end());
    verdict.next = Pick(600) == 0 ? kEnd : static_cast<TokenId>(10 + Pick(90));
    return verdict;
  }

  std::optional<std::string> Play(Live& live) {
    ++rounds_;
    const TokenTree tree = RandomTree(live.tokens.back());
    BlockTable& table = live.sequence->table();
    if (const absl::Status reserved = table.Reserve(tree.size()); !reserved.ok()) {
      ++refused_;
      live.sequence->Fail(reserved);
      return std::nullopt;
    }
    std::vector<uint32_t> values(tree.size());
    for (int node = 0; node < tree.size(); ++node) {
      values[node] = next_value_++;
      codec_.Write(table.Slot(table.committed() + node), values[node]);
    }
    const Verdict verdict = RandomVerdict(tree);
    RoundRecord record;
    live.sequence->Apply(tree, verdict, {}, {}, record);
    Expect(tree, verdict, values, live);
    return Check(live, record);
  }

  // The root's position and those of the path are kept, up to the token that ends the text; the last token
  // emitted has no position yet.
  void Expect(const TokenTree& tree, const Verdict& verdict, const std::vector<uint32_t>& values,
              Live& live) {
    const std::size_t limit = 1 + live.sequence->request().max_new_tokens;
    int row = 0;
    for (std::size_t i = 0; i <= verdict.accepted.size(); ++i) {
      live.values.push_back(values[row]);
      moved_ += row != static_cast<int>(i);
      const bool drafted = i < verdict.accepted.size();
      if (drafted) row = verdict.accepted[i];
      live.tokens.push_back(drafted ? tree.node(row).token : verdict.next);
      if (drafted && takes_siblings_) row = tree.Children(tree.node(row).parent)[0];
      if (live.tokens.back() == kEnd || live.tokens.size() >= limit) {
        ++ended_;
        return;
      }
    }
  }

  std::optional<std::string> Check(Live& live, const RoundRecord& record) {
    const Sequence& sequence = *live.sequence;
    const std::span<const TokenId> tokens = sequence.tokens();
    if (!std::equal(tokens.begin(), tokens.end(), live.tokens.begin(), live.tokens.end()))
      return "other tokens";
    if (record.emitted.empty() || record.emitted.back() != live.tokens.back()) return "other record";
    BlockTable& table = live.sequence->table();
    const int committed = static_cast<int>(live.values.size());
    if (table.committed() != committed || table.reserved() != 0) return "wrong length";
    if (table.allocated() != (committed + 15) / 16 * 16) return "holds more or fewer blocks than needed";
    for (int at = 0; at < committed; ++at) {
      if (!codec_.Holds(table.Slot(at), live.values[at]))
        return absl::StrCat("position ", at, " lost its value");
    }
    int64_t held = 0;
    for (Live& other : live_) held += static_cast<int64_t>(other.sequence->table().block_data().size());
    if (held != pool_->usage().blocks_in_use) return "the pool counts other blocks than the tables hold";
    return std::nullopt;
  }

  const KvLayout layout_{{{.kv_heads = 1, .head_size = 2}}, KvDtype::kF16};
  const KvTokenCodec codec_{layout_};
  std::mt19937_64 random_;
  bool takes_siblings_;
  std::unique_ptr<KvPool> pool_;
  int layout_id_;
  std::list<Live> live_;
  uint64_t last_id_ = 0;
  uint32_t next_value_ = 1;
  int rounds_ = 0, refused_ = 0, moved_ = 0, ended_ = 0;
};

TEST(RoundModel, EveryRoundKeepsWhatItAccepted) {
  constexpr int kRounds = 100000;
  RoundWorld world(1);
  EXPECT_EQ(world.Run(kRounds), std::nullopt);
  // The run met what it is meant to meet.
  EXPECT_GT(world.refused(), 100);
  EXPECT_GT(world.moved(), kRounds);
  EXPECT_GT(world.ended(), 1000);
}

TEST(RoundModel, SeesTheWrongSiblingKept) {
  const auto mistake = RoundWorld(1, /*takes_siblings=*/true).Run(1000);
  ASSERT_NE(mistake, std::nullopt);
  EXPECT_NE(mistake->find("lost its value"), std::string::npos) << *mistake;
}

}  // namespace
}  // namespace forerun
