// The definition of kv_store.h in plain loops: keys are transposed into the block, values lie as they are.
#include "kernels/formats/tensor_type.h"
#include "kernels/kv/kv_store.h"

namespace forerun {
namespace {

void Put(KvDtype dtype, std::byte* base, int64_t index, float value) {
  if (dtype == KvDtype::kF16) {
    reinterpret_cast<uint16_t*>(base)[index] = FloatToHalf(value);
  } else {
    reinterpret_cast<float*>(base)[index] = value;
  }
}

}  // namespace

void KvStoreReference(const KvStoreArgs& args, WorkRange rows, Lane&) {
  const KvLayerView& layer = args.layer;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const KvSlot slot = args.slots[row];
    std::byte* const keys = slot.block + layer.offset;
    std::byte* const values = keys + layer.key_bytes();
    for (int64_t head = 0; head < layer.kv_heads; ++head) {
      for (int64_t d = 0; d < layer.head_size; ++d) {
        const int64_t from = row * args.row_stride + head * layer.head_size + d;
        Put(layer.dtype, keys, (head * layer.head_size + d) * kBlockTokens + slot.offset, args.keys[from]);
        Put(layer.dtype, values, (head * kBlockTokens + slot.offset) * layer.head_size + d,
            args.values[from]);
      }
    }
  }
}

}  // namespace forerun
