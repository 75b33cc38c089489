// How a block of 16 tokens lies in memory. For one layer: keys [kv_heads][head_size][16 tokens], so that one
// vector lane is one token, then values [kv_heads][16 tokens][head_size].
#pragma once

#include <cstddef>
#include <cstdint>

namespace forerun {

inline constexpr int kBlockTokens = 16;

enum class KvDtype { kF16, kF32 };
inline int KvElementBytes(KvDtype dtype) { return dtype == KvDtype::kF16 ? 2 : 4; }

// One layer's part of a block.
struct KvLayerView {
  KvDtype dtype = KvDtype::kF16;
  int kv_heads = 0;
  int head_size = 0;
  std::size_t offset = 0;  // bytes from the block's start to this layer's keys; its values follow them

  std::size_t key_bytes() const {
    return static_cast<std::size_t>(kv_heads) * head_size * kBlockTokens * KvElementBytes(dtype);
  }
  std::size_t bytes() const { return 2 * key_bytes(); }
};

// Where one token lives.
struct KvSlot {
  std::byte* block = nullptr;
  int32_t offset = 0;  // 0..15
};

}  // namespace forerun
