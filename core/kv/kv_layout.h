// The shape of one model's KV: what a block of 16 tokens holds.
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/kv/kv_block.h"

namespace forerun {

class KvLayout {
 public:
  struct Layer {
    int kv_heads = 0;
    int head_size = 0;
    int window = 0;  // 0: sees everything
    friend bool operator==(const Layer&, const Layer&) = default;
  };

  KvLayout() = default;
  KvLayout(std::vector<Layer> layers, KvDtype dtype);

  int num_layers() const { return static_cast<int>(layers_.size()); }
  KvDtype dtype() const { return dtype_; }
  std::size_t block_bytes() const { return block_bytes_; }  // a multiple of 64
  KvLayerView layer(int index) const;                       // with its offset in a block
  friend bool operator==(const KvLayout&, const KvLayout&) = default;

 private:
  std::vector<Layer> layers_;
  std::vector<std::size_t> offsets_;
  KvDtype dtype_ = KvDtype::kF16;
  std::size_t block_bytes_ = 0;
};

}  // namespace forerun
