// One byte budget and one manager for the KV of every model in the process. The budget is cut into fixed
// slabs; a slab is cut into blocks of one layout while in use and returns to the pool when its last block is
// freed. Blocks hold 16 tokens and are reference-counted. Memory is touched (and counts as resident) only
// once used. A new block's bytes are arbitrary (another layout's old values, NaN included): callers read only
// slots that they committed, or reserved and wrote. One thread at a time may change a pool; data() may be
// read from many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/kv/kv_layout.h"

namespace forerun {

using BlockId = int32_t;

class KvPool {
 public:
  struct Options {
    std::size_t budget_bytes = std::size_t{512} << 20;
    std::size_t slab_bytes = std::size_t{4} << 20;
  };
  struct Usage {
    std::size_t budget_bytes = 0;
    std::size_t slab_bytes_in_use = 0;   // slabs that serve a layout
    std::size_t block_bytes_in_use = 0;  // blocks that someone holds
    std::size_t peak_block_bytes = 0;
    int64_t blocks_in_use = 0;
    // 1 - block bytes / slab bytes in use: what slabs hold beyond live blocks; 0 with no slab in use.
    double fragmentation = 0;
  };

  // InvalidArgument where the budget is smaller than one slab, or a slab no positive multiple of 64.
  static absl::StatusOr<std::unique_ptr<KvPool>> Create(const Options& options);
  ~KvPool();
  KvPool(const KvPool&) = delete;
  KvPool& operator=(const KvPool&) = delete;

  // InvalidArgument where a block of this layout does not fit a slab. The same layout gives the same id.
  absl::StatusOr<int> RegisterLayout(const KvLayout& layout);
  const KvLayout& layout(int layout_id) const;

  // A block with one reference; ResourceExhausted naming need and budget where no slab is free.
  absl::StatusOr<BlockId> Allocate(int layout_id);
  void AddReference(BlockId block);
  void Release(BlockId block);  // frees it with its last reference
  int references(BlockId block) const;
  std::byte* data(BlockId block) const;
  // All bytes of a block (copy-on-write).
  void CopyBlock(int layout_id, BlockId from, BlockId to);

  Usage usage() const;

 private:
  struct State;
  explicit KvPool(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace forerun
