// Stands in for a model's keys and values: a token's value decides every element of its slot, all layers, so
// that a slot which any other token touched, even in one element, no longer reads back.
#pragma once

#include <cstdint>
#include <vector>

#include "core/kv/kv_layout.h"

namespace forerun {

class KvTokenCodec {
 public:
  explicit KvTokenCodec(const KvLayout& layout);
  void Write(KvSlot slot, uint32_t token) const;
  bool Holds(KvSlot slot, uint32_t token) const;

 private:
  struct Element {
    std::size_t offset = 0;  // of token 0, in bytes from the block's start
    std::size_t stride = 0;  // bytes from one token to the next
  };
  std::vector<Element> elements_;
  std::size_t element_bytes_;
};

}  // namespace forerun
