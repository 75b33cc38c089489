#include "tests/support/kv_world.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "kernels/kv/kv_store.h"

namespace forerun {
namespace {

constexpr int kMaxSequences = 8;
constexpr int kMaxTokens = 90;

// 128 and 896 bytes a block.
const KvLayout kLayouts[] = {
    KvLayout({{.kv_heads = 1, .head_size = 2}}, KvDtype::kF16),
    KvLayout({{.kv_heads = 2, .head_size = 2}, {.kv_heads = 1, .head_size = 3}}, KvDtype::kF32)};

}  // namespace

KvWorld::KvWorld(uint64_t seed, Fault fault)
    : fault_(fault),
      random_(seed),
      pool_(*KvPool::Create({.budget_bytes = 4 * 2048, .slab_bytes = 2048})),
      codecs_{KvTokenCodec(kLayouts[0]), KvTokenCodec(kLayouts[1])},
      layout_ids_{*pool_->RegisterLayout(kLayouts[0]), *pool_->RegisterLayout(kLayouts[1])} {}

std::optional<std::string> KvWorld::Run(int operations) {
  for (int i = 0; i < operations; ++i) {
    std::string name = "new";
    if (sequences_.empty()) {
      sequences_.push_back(NewSequence());
    } else {
      name = Operate(*std::next(sequences_.begin(), Pick(sequences_.size())));
    }
    std::optional<std::string> mistake = std::move(mistake_);
    if (!mistake) mistake = Check();
    if (mistake) return absl::StrCat("operation ", i, " (", name, "): ", *mistake);
  }
  sequences_.clear();
  if (pool_->usage().blocks_in_use != 0 || pool_->usage().slab_bytes_in_use != 0) return "blocks leaked";
  return std::nullopt;
}

KvWorld::Sequence KvWorld::NewSequence() {
  const int which = Pick(2);
  return {.which = which, .table = BlockTable(*pool_, layout_ids_[which])};
}

const char* KvWorld::Operate(Sequence& sequence) {
  switch (Pick(14)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return Reserve(sequence);
    case 4:
    case 5:
      return CommitSubset(sequence);
    case 6:
      return CommitFirst(sequence);
    case 7:
      return Rollback(sequence);
    case 8:
      return Truncate(sequence);
    case 9:
      return Fork(sequence);
    case 10:
    case 11:
    case 12:
      return MoveOrNew(sequence);
    default:
      return Free(sequence);
  }
}

const char* KvWorld::Reserve(Sequence& sequence) {
  BlockTable& table = sequence.table;
  const int rows = Pick(std::min(40, kMaxTokens - table.committed()) + 1);
  const std::vector<const std::byte*> before(table.block_data().begin(), table.block_data().end());
  const int64_t blocks = pool_->usage().blocks_in_use;
  const absl::Status status = table.Reserve(rows);
  if (!status.ok()) {
    ++refused_;
    const auto now = table.block_data();
    if (status.code() != absl::StatusCode::kResourceExhausted) mistake_ = status.ToString();
    if (!std::equal(before.begin(), before.end(), now.begin(), now.end()))
      mistake_ = "a refusal changed the table";
    if (pool_->usage().blocks_in_use != blocks) mistake_ = "a refusal leaked";
    return "refused reserve";
  }
  sequence.reserved.clear();
  for (int row = 0; row < rows; ++row) {
    const KvSlot slot = table.Slot(table.committed() + row);
    sequence.reserved.push_back(next_token_++);
    codecs_[sequence.which].Write(slot, sequence.reserved.back());
    const std::size_t index = (table.committed() + row) / kBlockTokens;
    if (index < before.size() && before[index] != slot.block) {
      if (row == 0) ++copied_;
      if (fault_ == Fault::kNoCopyOnWrite) {
        codecs_[sequence.which].Write({const_cast<std::byte*>(before[index]), slot.offset},
                                      sequence.reserved[row]);
      }
    }
  }
  return "reserve";
}

const char* KvWorld::CommitSubset(Sequence& sequence) {
  std::vector<int> kept;
  const int keep_of_four = 1 + Pick(3);
  for (int row = 0; row < sequence.table.reserved(); ++row) {
    if (Pick(4) < keep_of_four) kept.push_back(row);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    moved_ += kept[i] != static_cast<int>(i);
    sequence.committed.push_back(sequence.reserved[kept[i]]);
  }
  sequence.reserved.clear();
  if (fault_ == Fault::kDescendingCommit) {
    CommitDescending(sequence, kept);
  } else {
    sequence.table.Commit(kept);
  }
  return "commit";
}

void KvWorld::CommitDescending(Sequence& sequence, const std::vector<int>& kept) {
  const int start = sequence.table.committed();
  for (int i = static_cast<int>(kept.size()) - 1; i >= 0; --i) {
    for (int layer = 0; layer < kLayouts[sequence.which].num_layers(); ++layer) {
      KvCopySlot(kLayouts[sequence.which].layer(layer), sequence.table.Slot(start + kept[i]),
                 sequence.table.Slot(start + i));
    }
  }
  sequence.table.CommitFirst(static_cast<int>(kept.size()));
}

const char* KvWorld::CommitFirst(Sequence& sequence) {
  const int rows = Pick(sequence.reserved.size() + 1);
  sequence.table.CommitFirst(rows);
  sequence.committed.insert(sequence.committed.end(), sequence.reserved.begin(),
                            sequence.reserved.begin() + rows);
  sequence.reserved.clear();
  return "commit first";
}

const char* KvWorld::Rollback(Sequence& sequence) {
  sequence.table.Rollback();
  sequence.reserved.clear();
  return "rollback";
}

const char* KvWorld::Truncate(Sequence& sequence) {
  const int committed = static_cast<int>(sequence.committed.size());
  const int tokens = committed - Pick(std::min(committed, 30) + 1);
  sequence.table.TruncateTo(tokens);
  sequence.committed.resize(tokens);
  sequence.reserved.clear();
  return "truncate";
}

const char* KvWorld::Fork(Sequence& sequence) {
  if (sequences_.size() >= kMaxSequences) return "no fork";
  sequences_.push_back({sequence.which, sequence.table.Fork(), sequence.committed});
  return "fork";
}

const char* KvWorld::MoveOrNew(Sequence& sequence) {
  if (sequences_.size() < kMaxSequences && Pick(2) == 0) {
    sequences_.push_back(NewSequence());
    return "new";
  }
  BlockTable moved = std::move(sequence.table);
  if (sequence.table.allocated() != 0 || sequence.table.committed() != 0)
    mistake_ = "a moved-from table holds blocks";
  sequence.table = std::move(moved);
  return "move";
}

const char* KvWorld::Free(Sequence& sequence) {
  if (fault_ == Fault::kForgottenRelease && sequence.table.allocated() > 0) {
    forgotten_.push_back(std::move(sequence.table));
  }
  sequences_.remove_if([&sequence](const Sequence& other) { return &other == &sequence; });
  return "free";
}

std::optional<std::string> KvWorld::Check() {
  held_.clear();
  std::size_t bytes = 0;
  for (const Sequence& sequence : sequences_) {
    if (auto mistake = CheckSequence(sequence)) return mistake;
    for (const std::byte* block : sequence.table.block_data()) held_.push_back({block, sequence.which});
  }
  std::sort(held_.begin(), held_.end());
  held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
  for (const auto& [block, which] : held_) bytes += kLayouts[which].block_bytes();
  const KvPool::Usage usage = pool_->usage();
  if (usage.blocks_in_use != static_cast<int64_t>(held_.size()) || usage.block_bytes_in_use != bytes) {
    return absl::StrCat("the pool counts ", usage.blocks_in_use, " blocks, the tables hold ", held_.size());
  }
  if (usage.slab_bytes_in_use > usage.budget_bytes) return "over budget";
  const double wasted = usage.slab_bytes_in_use == 0 ? 0.0 : 1.0 - double(bytes) / usage.slab_bytes_in_use;
  if (usage.fragmentation != wasted) return "fragmentation is not what the blocks say";
  worst_fragmentation_ = std::max(worst_fragmentation_, wasted);
  return std::nullopt;
}

std::optional<std::string> KvWorld::CheckSequence(const Sequence& sequence) const {
  const BlockTable& table = sequence.table;
  const int committed = static_cast<int>(sequence.committed.size());
  const int length = committed + static_cast<int>(sequence.reserved.size());
  if (table.committed() != committed || table.committed() + table.reserved() != length) return "wrong length";
  if (table.allocated() != (length + 15) / 16 * 16) return "holds more or fewer blocks than its tokens need";
  for (int at = 0; at < length; ++at) {
    const KvSlot slot = table.Slot(at);
    const uint32_t token = at < committed ? sequence.committed[at] : sequence.reserved[at - committed];
    if (slot.block != table.block_data()[at / 16]) return "block_data and Slot disagree";
    if (!codecs_[sequence.which].Holds(slot, token)) return absl::StrCat("position ", at, " lost its token");
  }
  return std::nullopt;
}

}  // namespace forerun
