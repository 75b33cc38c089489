// One sequence's pages for one model. Copies share blocks; a shared block that would be written is copied
// first. Position p of the committed context always lives in block p / 16, offset p % 16. Lengths: published
// <= committed <= allocated.
//
//   Reserve(n) -> n slots after the committed ones -> forward writes them -> Commit(kept rows) or Rollback()
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/kv/kv_pool.h"

namespace forerun {

class BlockTable {
 public:
  BlockTable(KvPool& pool, int layout_id);
  ~BlockTable();
  BlockTable(BlockTable&& other) noexcept;
  BlockTable& operator=(BlockTable&& other) noexcept;
  BlockTable(const BlockTable&) = delete;
  BlockTable& operator=(const BlockTable&) = delete;

  BlockTable Fork() const;  // shares every committed block; drops reserved rows

  int committed() const { return committed_; }
  int reserved() const { return reserved_; }
  int allocated() const;  // slots in held blocks

  // Slots for `rows` speculative rows at positions committed() ..: ResourceExhausted leaves the table as it
  // was. Replaces an earlier reservation; the rows that both have keep what was written to them. The block
  // that the first row falls into is made private first.
  absl::Status Reserve(int rows);
  KvSlot Slot(int position) const;  // any position below committed() + reserved()

  // Keeps these reserved rows (ascending indices into the reservation), moved together after the committed
  // ones, and frees what the others held.
  void Commit(std::span<const int> kept_rows);
  void CommitAll() { CommitFirst(reserved_); }
  void CommitFirst(int rows);  // rows 0 .. rows - 1: nothing moves
  void Rollback() { CommitFirst(0); }
  void TruncateTo(int tokens);  // tokens <= committed(); drops reserved rows; whole unused blocks are freed

  // [blocks]: valid until the next call that changes the table.
  std::span<const std::byte* const> block_data() const { return block_data_; }

 private:
  void FreeBeyond(int slots);

  KvPool* pool_;
  int layout_id_;
  std::vector<BlockId> blocks_;
  std::vector<const std::byte*> block_data_;  // data of blocks_
  int committed_ = 0;
  int reserved_ = 0;
};

}  // namespace forerun
