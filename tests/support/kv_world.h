// Random operations on several sequences of two layouts in one small pool, beside a plain model (a list of
// tokens a sequence). After every operation every committed and reserved token must read back, and the pool
// must count exactly the blocks that the tables hold: no aliasing, no leak.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/kv/block_table.h"
#include "tests/support/kv_tokens.h"

namespace forerun {

class KvWorld {
 public:
  // What the negative controls break, inside the test's own code.
  enum class Fault { kNone, kDescendingCommit, kNoCopyOnWrite, kForgottenRelease };

  KvWorld(uint64_t seed, Fault fault);
  // What went wrong first, or nothing. Run once.
  std::optional<std::string> Run(int operations);

  int refused() const { return refused_; }
  int moved() const { return moved_; }
  int copied() const { return copied_; }
  double worst_fragmentation() const { return worst_fragmentation_; }

 private:
  struct Sequence {
    int which;  // of the two layouts
    BlockTable table;
    std::vector<uint32_t> committed = {};
    std::vector<uint32_t> reserved = {};
  };

  int Pick(std::size_t count) { return static_cast<int>(random_() % count); }
  Sequence NewSequence();
  const char* Operate(Sequence& sequence);
  const char* Reserve(Sequence& sequence);
  const char* CommitSubset(Sequence& sequence);
  void CommitDescending(Sequence& sequence, const std::vector<int>& kept);
  const char* CommitFirst(Sequence& sequence);
  const char* Rollback(Sequence& sequence);
  const char* Truncate(Sequence& sequence);
  const char* Fork(Sequence& sequence);
  const char* MoveOrNew(Sequence& sequence);
  const char* Free(Sequence& sequence);
  std::optional<std::string> Check();
  std::optional<std::string> CheckSequence(const Sequence& sequence) const;

  Fault fault_;
  std::mt19937_64 random_;
  std::unique_ptr<KvPool> pool_;
  KvTokenCodec codecs_[2];
  int layout_ids_[2];
  std::list<Sequence> sequences_;
  std::vector<BlockTable> forgotten_;
  std::vector<std::pair<const std::byte*, int>> held_;
  std::optional<std::string> mistake_;
  uint32_t next_token_ = 1;
  int refused_ = 0;
  int moved_ = 0;
  int copied_ = 0;
  double worst_fragmentation_ = 0;
};

}  // namespace forerun
