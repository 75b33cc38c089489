// Moves bits, never values: a copied slot equals its source exactly, NaNs included.
#include <cstring>

#include "kernels/kv/kv_store.h"

namespace forerun {
namespace {

// Keys: one element in every 16; values: one run of head_size elements a head.
template <std::size_t kElementBytes>
void CopySlot(const KvLayerView& layer, KvSlot from, KvSlot to) {
  const std::byte* const source_keys = from.block + layer.offset + from.offset * kElementBytes;
  std::byte* const target_keys = to.block + layer.offset + to.offset * kElementBytes;
  const std::size_t end_of_keys = layer.key_bytes();
  for (std::size_t i = 0; i < end_of_keys; i += kBlockTokens * kElementBytes) {
    std::memcpy(target_keys + i, source_keys + i, kElementBytes);
  }

  const std::size_t run = layer.head_size * kElementBytes;
  const std::byte* const source_values = from.block + layer.offset + layer.key_bytes() + from.offset * run;
  std::byte* const target_values = to.block + layer.offset + layer.key_bytes() + to.offset * run;
  for (int head = 0; head < layer.kv_heads; ++head) {
    const std::size_t start = head * kBlockTokens * run;
    std::memcpy(target_values + start, source_values + start, run);
  }
}

}  // namespace

void KvCopySlot(const KvLayerView& layer, KvSlot from, KvSlot to) {
  if (from.block == to.block && from.offset == to.offset) return;
  if (layer.dtype == KvDtype::kF16) {
    CopySlot<2>(layer, from, to);
  } else {
    CopySlot<4>(layer, from, to);
  }
}

}  // namespace forerun
