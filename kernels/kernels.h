// Every kernel, resolved once for one machine and passed to the model like any other argument.
#pragma once

#include "kernels/add/add.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/attention_unfused.h"
#include "kernels/gate/gate.h"
#include "kernels/isa.h"
#include "kernels/kv/kv_store.h"
#include "kernels/matmul/matmul.h"
#include "kernels/quantize_rows/quantize_rows.h"
#include "kernels/rms_norm/rms_norm.h"
#include "kernels/rope/rope.h"
#include "kernels/row_reduce/row_reduce.h"

namespace forerun {

struct Kernels {
  explicit Kernels(Isa isa) : isa(isa) {}

  Isa isa;
  KernelFn<MatmulArgs> matmul_f32 = kMatmulF32.For(isa);
  KernelFn<MatmulArgs> matmul_a8 = kMatmulA8.For(isa);
  KernelFn<ArrangeArgs> arrange = kArrange.For(isa);
  KernelFn<QuantizeRowsArgs> quantize_rows = kQuantizeRows.For(isa);
  KernelFn<RmsNormArgs> rms_norm = kRmsNorm.For(isa);
  KernelFn<RopeArgs> rope = kRope.For(isa);
  KernelFn<KvStoreArgs> kv_store = kKvStore.For(isa);
  KernelFn<AttentionArgs> attention = kAttention.For(isa);
  KernelFn<AttentionArgs> attention_merge = kAttentionMerge.For(isa);
  KernelFn<AttentionArgs> attention_scores = kAttentionScores.For(isa);
  KernelFn<AttentionArgs> attention_softmax = kAttentionSoftmax.For(isa);
  KernelFn<AttentionArgs> attention_values = kAttentionValues.For(isa);
  KernelFn<GateArgs> gate = kGate.For(isa);
  KernelFn<AddArgs> add = kAdd.For(isa);
  KernelFn<RowReduceArgs> row_reduce = kRowReduce.For(isa);
};

}  // namespace forerun
