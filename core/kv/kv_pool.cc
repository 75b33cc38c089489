// The budget is one reserved mapping, cut into slabs by address. A layout fills its lowest slab with room
// first, so that the higher ones drain and return. A returned slab is reused last-in first-out and keeps its
// resident pages: giving them back to the system would cost a page fault per 4 KiB at the next use, and the
// budget bounds them anyway.
#include "core/kv/kv_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "core/base/check.h"

namespace forerun {
namespace {

constexpr std::size_t kAlignment = 64;  // of every slab, hence of every block
constexpr int kUnused = -1;

struct Slab {
  int layout_id = kUnused;
  int live_blocks = 0;
  int touched_blocks = 0;          // indices below were handed out before and may be resident
  std::vector<int> recycled = {};  // touched and free: preferred to untouched memory
};

struct Block {
  std::byte* data = nullptr;
  int slab = kUnused;
  int index = 0;  // inside its slab
  int references = 0;
};

struct LayoutSlabs {
  KvLayout layout;
  int blocks_per_slab = 0;
  absl::btree_set<int> with_room = {};  // slabs of this layout with a free block
};

}  // namespace

struct KvPool::State {
  Options options;
  std::byte* memory = nullptr;
  std::vector<Slab> slabs;
  std::vector<int> free_slabs;  // the last is taken first
  std::vector<LayoutSlabs> layouts;
  std::vector<Block> blocks;  // by BlockId
  std::vector<BlockId> free_ids;
  Usage usage;

  bool GiveSlab(int layout_id);
  void ReturnSlab(int slab_index);
  const Block& Live(BlockId block) const;
};

// The lowest-addressed slabs come first from a fresh pool.
bool KvPool::State::GiveSlab(int layout_id) {
  if (free_slabs.empty()) return false;
  const int slab_index = free_slabs.back();
  free_slabs.pop_back();
  slabs[slab_index] = {.layout_id = layout_id};
  layouts[layout_id].with_room.insert(slab_index);
  usage.slab_bytes_in_use += options.slab_bytes;
  return true;
}

void KvPool::State::ReturnSlab(int slab_index) {
  layouts[slabs[slab_index].layout_id].with_room.erase(slab_index);
  slabs[slab_index] = {};
  free_slabs.push_back(slab_index);
  usage.slab_bytes_in_use -= options.slab_bytes;
}

const Block& KvPool::State::Live(BlockId block) const {
  FORERUN_CHECK(block >= 0 && block < static_cast<BlockId>(blocks.size()));
  FORERUN_CHECK(blocks[block].references > 0);
  return blocks[block];
}

absl::StatusOr<std::unique_ptr<KvPool>> KvPool::Create(const Options& options) {
  if (options.slab_bytes == 0 || options.slab_bytes % kAlignment != 0) {
    return absl::InvalidArgumentError(absl::StrCat("KV pool: slab_bytes is ", options.slab_bytes,
                                                   ", expected a positive multiple of ", kAlignment));
  }
  if (options.budget_bytes < options.slab_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("KV pool: budget_bytes is ", options.budget_bytes,
                                                   ", expected at least one slab of ", options.slab_bytes));
  }
  const std::size_t num_slabs = options.budget_bytes / options.slab_bytes;
  if (num_slabs > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    return absl::InvalidArgumentError(absl::StrCat("KV pool: ", num_slabs, " slabs of ", options.slab_bytes,
                                                   " bytes are too many, expected larger slabs"));
  }
  const std::size_t bytes = num_slabs * options.slab_bytes;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("KV pool: cannot reserve ", bytes, " bytes of address space: ", std::strerror(errno)));
  }
  madvise(memory, bytes, MADV_HUGEPAGE);  // a layer's keys and values are read from end to end
  auto state = std::make_unique<State>();
  state->options = options;
  state->memory = static_cast<std::byte*>(memory);
  state->slabs.resize(num_slabs);
  for (int slab = static_cast<int>(num_slabs) - 1; slab >= 0; --slab) state->free_slabs.push_back(slab);
  state->usage.budget_bytes = options.budget_bytes;
  return std::unique_ptr<KvPool>(new KvPool(std::move(state)));
}

KvPool::KvPool(std::unique_ptr<State> state) : state_(std::move(state)) {}

KvPool::~KvPool() { munmap(state_->memory, state_->slabs.size() * state_->options.slab_bytes); }

absl::StatusOr<int> KvPool::RegisterLayout(const KvLayout& layout) {
  for (std::size_t id = 0; id < state_->layouts.size(); ++id) {
    if (state_->layouts[id].layout == layout) return static_cast<int>(id);
  }
  const std::size_t block_bytes = layout.block_bytes();
  if (block_bytes == 0) return absl::InvalidArgumentError("KV pool: the layout has no layers");
  if (block_bytes > state_->options.slab_bytes) {
    return absl::InvalidArgumentError(absl::StrCat("KV pool: a block of ", kBlockTokens, " tokens needs ",
                                                   block_bytes, " bytes, a slab holds ",
                                                   state_->options.slab_bytes));
  }
  const int blocks_per_slab = static_cast<int>(state_->options.slab_bytes / block_bytes);
  state_->layouts.push_back({.layout = layout, .blocks_per_slab = blocks_per_slab});
  return static_cast<int>(state_->layouts.size()) - 1;
}

const KvLayout& KvPool::layout(int layout_id) const {
  FORERUN_CHECK(layout_id >= 0 && layout_id < static_cast<int>(state_->layouts.size()));
  return state_->layouts[layout_id].layout;
}

absl::StatusOr<BlockId> KvPool::Allocate(int layout_id) {
  const std::size_t block_bytes = layout(layout_id).block_bytes();
  LayoutSlabs& home = state_->layouts[layout_id];
  if (home.with_room.empty() && !state_->GiveSlab(layout_id)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "KV pool: a block of ", block_bytes,
        " bytes is needed and no slab is free: ", state_->usage.block_bytes_in_use, " bytes in use, budget ",
        state_->usage.budget_bytes, " in slabs of ", state_->options.slab_bytes));
  }
  const int slab_index = *home.with_room.begin();
  Slab& slab = state_->slabs[slab_index];
  int index = slab.touched_blocks;
  if (slab.recycled.empty()) {
    ++slab.touched_blocks;
  } else {
    index = slab.recycled.back();
    slab.recycled.pop_back();
  }
  if (++slab.live_blocks == home.blocks_per_slab) home.with_room.erase(slab_index);

  BlockId id = static_cast<BlockId>(state_->blocks.size());
  if (state_->free_ids.empty()) {
    state_->blocks.emplace_back();
  } else {
    id = state_->free_ids.back();
    state_->free_ids.pop_back();
  }
  std::byte* const slab_start = state_->memory + slab_index * state_->options.slab_bytes;
  state_->blocks[id] = {
      .data = slab_start + index * block_bytes, .slab = slab_index, .index = index, .references = 1};

  Usage& usage = state_->usage;
  ++usage.blocks_in_use;
  usage.block_bytes_in_use += block_bytes;
  usage.peak_block_bytes = std::max(usage.peak_block_bytes, usage.block_bytes_in_use);
  return id;
}

void KvPool::AddReference(BlockId block) {
  state_->Live(block);
  ++state_->blocks[block].references;
}

void KvPool::Release(BlockId block) {
  state_->Live(block);
  Block& released = state_->blocks[block];
  if (--released.references > 0) return;
  Slab& slab = state_->slabs[released.slab];
  LayoutSlabs& home = state_->layouts[slab.layout_id];
  --state_->usage.blocks_in_use;
  state_->usage.block_bytes_in_use -= home.layout.block_bytes();
  state_->free_ids.push_back(block);
  slab.recycled.push_back(released.index);
  home.with_room.insert(released.slab);
  if (--slab.live_blocks == 0) state_->ReturnSlab(released.slab);
}

int KvPool::references(BlockId block) const { return state_->Live(block).references; }

std::byte* KvPool::data(BlockId block) const { return state_->Live(block).data; }

void KvPool::CopyBlock(int layout_id, BlockId from, BlockId to) {
  FORERUN_CHECK(state_->slabs[state_->Live(from).slab].layout_id == layout_id);
  FORERUN_CHECK(state_->slabs[state_->Live(to).slab].layout_id == layout_id);
  FORERUN_CHECK(from != to);
  std::memcpy(data(to), data(from), layout(layout_id).block_bytes());
}

KvPool::Usage KvPool::usage() const {
  Usage usage = state_->usage;
  if (usage.slab_bytes_in_use > 0) {
    usage.fragmentation = 1.0 - static_cast<double>(usage.block_bytes_in_use) / usage.slab_bytes_in_use;
  }
  return usage;
}

}  // namespace forerun
