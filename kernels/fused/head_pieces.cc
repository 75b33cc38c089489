#include "kernels/fused/head_pieces.h"

#include <algorithm>
#include <bit>

namespace forerun {
namespace {

// Looks at exponents alone, which the compiler turns into vector code.
bool AllFinite(const float* values, int64_t count) {
  constexpr uint32_t kExponent = 0x7f800000;
  uint32_t bad = 0;
  for (int64_t i = 0; i < count; ++i) bad |= (std::bit_cast<uint32_t>(values[i]) & kExponent) == kExponent;
  return bad == 0;
}

}  // namespace

void HeadPieces(const HeadPiecesArgs& args, WorkRange units, Lane& lane) {
  constexpr int64_t kGroups = kHeadPiece / kPackedOutputs;
  const MatmulArgs& product = args.product;
  for (int64_t piece = units.begin; piece < units.end; ++piece) {
    const int64_t first = piece * kHeadPiece;
    const int64_t words = std::min(kHeadPiece, product.weights.outputs - first);
    args.matmul(product, {piece * kGroups, piece * kGroups + PackedGroups(words)}, lane);
    const float* const logits = product.y + first;
    bool finite = true;
    for (int64_t row = 0; row < product.rows; ++row) {
      finite = finite && AllFinite(logits + row * product.y_stride, words);
    }
    args.finite[piece] = finite;
    if (args.best == nullptr) continue;
    args.kernels->row_reduce({logits, product.y_stride, words, args.best + piece * product.rows, nullptr},
                             {0, product.rows}, lane);
  }
}

}  // namespace forerun
