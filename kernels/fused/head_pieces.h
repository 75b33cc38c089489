// Logits a piece of the vocabulary at a time, for all rows: each piece is looked through for numbers that are
// not finite, and for its best token, while it is in cache.
#pragma once

#include "kernels/kernels.h"

namespace forerun {

inline constexpr int64_t kHeadPiece = 512;  // words; a multiple of kPackedOutputs

inline int64_t HeadPieceCount(int64_t words) { return (words + kHeadPiece - 1) / kHeadPiece; }

struct HeadPiecesArgs {
  const Kernels* kernels = nullptr;
  KernelFn<MatmulArgs> matmul = nullptr;
  MatmulArgs product;         // y: the logits
  uint8_t* finite = nullptr;  // [pieces]: whether all of the piece's are
  int32_t* best = nullptr;    // [pieces][rows], within the piece, as row_reduce.h has it; or null
};

// Unit: one piece.
void HeadPieces(const HeadPiecesArgs&, WorkRange, Lane&);

}  // namespace forerun
