#include "tests/support/kv_tokens.h"

#include <cstring>

namespace forerun {
namespace {

uint32_t Pattern(uint32_t token, std::size_t element) {
  const uint32_t mixed = (token + 1) * 2654435761u + static_cast<uint32_t>(element) * 40503u;
  return mixed ^ (mixed >> 15);
}

}  // namespace

KvTokenCodec::KvTokenCodec(const KvLayout& layout) : element_bytes_(KvElementBytes(layout.dtype())) {
  for (int index = 0; index < layout.num_layers(); ++index) {
    const KvLayerView layer = layout.layer(index);
    const std::size_t run = layer.head_size * element_bytes_;
    for (int dim = 0; dim < layer.kv_heads * layer.head_size; ++dim) {
      elements_.push_back({layer.offset + dim * kBlockTokens * element_bytes_, element_bytes_});
      const int head = dim / layer.head_size;
      const std::size_t value = head * kBlockTokens * run + dim % layer.head_size * element_bytes_;
      elements_.push_back({layer.offset + layer.key_bytes() + value, run});
    }
  }
}

void KvTokenCodec::Write(KvSlot slot, uint32_t token) const {
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    const uint32_t pattern = Pattern(token, i);
    std::memcpy(slot.block + elements_[i].offset + slot.offset * elements_[i].stride, &pattern,
                element_bytes_);
  }
}

bool KvTokenCodec::Holds(KvSlot slot, uint32_t token) const {
  for (std::size_t i = 0; i < elements_.size(); ++i) {
    const uint32_t pattern = Pattern(token, i);
    const std::byte* const stored = slot.block + elements_[i].offset + slot.offset * elements_[i].stride;
    if (std::memcmp(stored, &pattern, element_bytes_) != 0) return false;
  }
  return true;
}

}  // namespace forerun
