// q, k and v as one product: a head's outputs get their bias, norm and rotation, and keys and values go into
// the KV, while they are in cache.
#pragma once

#include "kernels/kernels.h"

namespace forerun {

struct QkvPart {
  KernelFn<MatmulArgs> matmul = nullptr;
  MatmulArgs product;
  const float* norm_gain = nullptr;  // [head_size], or null: no norm (v; architectures without q and k norms)
};

struct QkvArgs {
  const Kernels* kernels = nullptr;
  QkvPart q, k, v;
  int heads = 0, kv_heads = 0, head_size = 0;
  float norm_epsilon = 0;
  RopeArgs rope;      // of one head: x, row_stride and heads are set here
  KvStoreArgs store;  // layer and slots; the rest is set here
};

inline int64_t QkvUnits(const QkvArgs& args) { return args.heads + 2 * int64_t{args.kv_heads}; }

// Unit: one head, first those of q, then k, then v. head_size: a multiple of 16.
void Qkv(const QkvArgs&, WorkRange, Lane&);

}  // namespace forerun
