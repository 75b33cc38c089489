// Which neighbouring operations of a layer run as one. No setting changes a bit of any result: a fused
// operation calls the same kernels on the same slices, one after the other, while the slice is in cache.
#pragma once

namespace forerun {

struct Fusion {
  bool qkv = true;        // norm + q, k, v as one product with bias, RoPE and KV write
  bool attention = true;  // scores, softmax and values in one pass, output quantised in place
  bool ffn = true;        // norm + gate and up as one product with activation, quantised in place
  bool residual = true;   // residual add in the epilogue of the attention output and of down

  friend bool operator==(const Fusion&, const Fusion&) = default;
};

}  // namespace forerun
