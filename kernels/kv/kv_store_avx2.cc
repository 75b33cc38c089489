// Eight values are rounded at once; keys are then scattered, one element in every 16.
#include <immintrin.h>

#include <cstring>

#include "kernels/kv/kv_store.h"

namespace forerun {
namespace {

__m128i ToHalf(const float* x) {
  return _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

void StoreKeys(const float* x, int count, uint16_t* keys) {
  for (int i = 0; i < count; i += 8) {
    alignas(16) uint16_t halves[8];
    _mm_store_si128(reinterpret_cast<__m128i*>(halves), ToHalf(x + i));
    for (int j = 0; j < 8; ++j) keys[(i + j) * kBlockTokens] = halves[j];
  }
}
void StoreKeys(const float* x, int count, float* keys) {
  for (int i = 0; i < count; ++i) keys[i * kBlockTokens] = x[i];
}

void StoreValues(const float* x, int count, uint16_t* values) {
  for (int i = 0; i < count; i += 8) _mm_storeu_si128(reinterpret_cast<__m128i*>(values + i), ToHalf(x + i));
}
void StoreValues(const float* x, int count, float* values) { std::memcpy(values, x, count * sizeof(float)); }

template <class Element>
void StoreRow(const KvStoreArgs& args, int64_t row) {
  const KvLayerView& layer = args.layer;
  const KvSlot slot = args.slots[row];
  const int64_t per_head = static_cast<int64_t>(layer.head_size) * kBlockTokens;
  auto* const block_keys = reinterpret_cast<Element*>(slot.block + layer.offset);
  Element* const block_values = block_keys + layer.kv_heads * per_head;
  const int end = args.heads > 0 ? args.first_head + args.heads : layer.kv_heads;
  for (int head = args.first_head; head < end; ++head) {
    const int64_t from = row * args.row_stride + static_cast<int64_t>(head) * layer.head_size;
    if (args.keys != nullptr) {
      StoreKeys(args.keys + from, layer.head_size, block_keys + head * per_head + slot.offset);
    }
    if (args.values != nullptr) {
      StoreValues(args.values + from, layer.head_size,
                  block_values + head * per_head + static_cast<int64_t>(slot.offset) * layer.head_size);
    }
  }
}

}  // namespace

void KvStoreAvx2(const KvStoreArgs& args, WorkRange rows, Lane&) {
  const auto store = args.layer.dtype == KvDtype::kF16 ? StoreRow<uint16_t> : StoreRow<float>;
  for (int64_t row = rows.begin; row < rows.end; ++row) store(args, row);
}

}  // namespace forerun
