#include "core/kv/kv_layout.h"

#include <utility>

#include "core/base/check.h"

namespace forerun {
namespace {

constexpr std::size_t kAlignment = 64;  // one cache line, one AVX-512 register

std::size_t AlignUp(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

KvLayout::KvLayout(std::vector<Layer> layers, KvDtype dtype) : layers_(std::move(layers)), dtype_(dtype) {
  offsets_.reserve(layers_.size());
  for (int index = 0; index < num_layers(); ++index) {
    FORERUN_CHECK(layers_[index].kv_heads > 0 && layers_[index].head_size > 0);
    offsets_.push_back(block_bytes_);
    block_bytes_ += AlignUp(layer(index).bytes());
  }
}

KvLayerView KvLayout::layer(int index) const {
  FORERUN_CHECK(index >= 0 && index < num_layers());
  return {.dtype = dtype_,
          .kv_heads = layers_[index].kv_heads,
          .head_size = layers_[index].head_size,
          .offset = offsets_[index]};
}

}  // namespace forerun
