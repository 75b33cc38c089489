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
    const int64_t end = args.heads > 0 ? args.first_head + args.heads : layer.kv_heads;
    for (int64_t head = args.first_head; head < end; ++head) {
      for (int64_t d = 0; d < layer.head_size; ++d) {
        const int64_t from = row * args.row_stride + head * layer.head_size + d;
        const int64_t key = (head * layer.head_size + d) * kBlockTokens + slot.offset;
        const int64_t value = (head * kBlockTokens + slot.offset) * layer.head_size + d;
        if (args.keys != nullptr) Put(layer.dtype, keys, key, args.keys[from]);
        if (args.values != nullptr) Put(layer.dtype, values, value, args.values[from]);
      }
    }
  }
}

}  // namespace forerun
