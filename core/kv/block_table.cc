// Why a write never reaches another table's tokens: a table writes only positions from its committed length
// on, into blocks that were private when it reserved them. Whoever shares such a block afterwards (Fork) has
// committed no more than the writer had, so it never reads what is written, and copies the block before it
// writes itself.
#include "core/kv/block_table.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/status_macros.h"
#include "kernels/kv/kv_store.h"

namespace forerun {
namespace {

int BlocksFor(int tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

// `count` new blocks, or none at all.
absl::StatusOr<std::vector<BlockId>> AllocateBlocks(KvPool& pool, int layout_id, int count) {
  std::vector<BlockId> blocks;
  blocks.reserve(count);
  for (int i = 0; i < count; ++i) {
    const absl::StatusOr<BlockId> block = pool.Allocate(layout_id);
    if (!block.ok()) {
      for (const BlockId allocated : blocks) pool.Release(allocated);
      return block.status();
    }
    blocks.push_back(*block);
  }
  return blocks;
}

}  // namespace

BlockTable::BlockTable(KvPool& pool, int layout_id) : pool_(&pool), layout_id_(layout_id) {
  pool.layout(layout_id);  // checks the id
}

BlockTable::~BlockTable() { FreeBeyond(0); }

BlockTable::BlockTable(BlockTable&& other) noexcept
    : pool_(other.pool_),
      layout_id_(other.layout_id_),
      blocks_(std::exchange(other.blocks_, {})),
      block_data_(std::exchange(other.block_data_, {})),
      committed_(std::exchange(other.committed_, 0)),
      reserved_(std::exchange(other.reserved_, 0)) {}

BlockTable& BlockTable::operator=(BlockTable&& other) noexcept {
  if (this == &other) return *this;
  FreeBeyond(0);
  pool_ = other.pool_;
  layout_id_ = other.layout_id_;
  blocks_ = std::exchange(other.blocks_, {});
  block_data_ = std::exchange(other.block_data_, {});
  committed_ = std::exchange(other.committed_, 0);
  reserved_ = std::exchange(other.reserved_, 0);
  return *this;
}

BlockTable BlockTable::Fork() const {
  BlockTable fork(*pool_, layout_id_);
  const int shared = BlocksFor(committed_);
  fork.blocks_.assign(blocks_.begin(), blocks_.begin() + shared);
  fork.block_data_.assign(block_data_.begin(), block_data_.begin() + shared);
  fork.committed_ = committed_;
  for (const BlockId block : fork.blocks_) pool_->AddReference(block);
  return fork;
}

int BlockTable::allocated() const { return static_cast<int>(blocks_.size()) * kBlockTokens; }

absl::Status BlockTable::Reserve(int rows) {
  FORERUN_CHECK(rows >= 0);
  const int first = committed_ / kBlockTokens;  // the block of the first reserved row
  const bool starts_inside = rows > 0 && committed_ % kBlockTokens != 0;
  const bool copies = starts_inside && pool_->references(blocks_[first]) > 1;
  const int grows_by = std::max(0, BlocksFor(committed_ + rows) - static_cast<int>(blocks_.size()));
  FORERUN_ASSIGN_OR_RETURN(const std::vector<BlockId> fresh,
                           AllocateBlocks(*pool_, layout_id_, grows_by + (copies ? 1 : 0)));
  for (int i = 0; i < grows_by; ++i) {
    blocks_.push_back(fresh[i]);
    block_data_.push_back(pool_->data(fresh[i]));
  }
  if (copies) {
    const BlockId shared = std::exchange(blocks_[first], fresh.back());
    block_data_[first] = pool_->data(fresh.back());
    pool_->CopyBlock(layout_id_, shared, fresh.back());
    pool_->Release(shared);
  }
  reserved_ = rows;
  FreeBeyond(committed_ + reserved_);
  return absl::OkStatus();
}

KvSlot BlockTable::Slot(int position) const {
  FORERUN_CHECK(position >= 0 && position < committed_ + reserved_);
  return {.block = pool_->data(blocks_[position / kBlockTokens]), .offset = position % kBlockTokens};
}

void BlockTable::Commit(std::span<const int> kept_rows) {
  const KvLayout& layout = pool_->layout(layout_id_);
  // Ascending rows: a source lies at or after its destination, so nothing is overwritten before it has moved.
  int destination = 0;
  for (const int row : kept_rows) {
    FORERUN_CHECK(row >= destination && row < reserved_);
    FORERUN_CHECK(destination == 0 || row > kept_rows[destination - 1]);
    if (row != destination) {
      const KvSlot from = Slot(committed_ + row);
      const KvSlot to = Slot(committed_ + destination);
      for (int layer = 0; layer < layout.num_layers(); ++layer) KvCopySlot(layout.layer(layer), from, to);
    }
    ++destination;
  }
  CommitFirst(destination);
}

void BlockTable::CommitFirst(int rows) {
  FORERUN_CHECK(rows >= 0 && rows <= reserved_);
  committed_ += rows;
  reserved_ = 0;
  FreeBeyond(committed_);
}

void BlockTable::TruncateTo(int tokens) {
  FORERUN_CHECK(tokens >= 0 && tokens <= committed_);
  committed_ = tokens;
  reserved_ = 0;
  FreeBeyond(committed_);
}

void BlockTable::FreeBeyond(int slots) {
  const std::size_t kept = BlocksFor(slots);
  for (std::size_t i = kept; i < blocks_.size(); ++i) pool_->Release(blocks_[i]);
  if (kept < blocks_.size()) {
    blocks_.resize(kept);
    block_data_.resize(kept);
  }
}

}  // namespace forerun
