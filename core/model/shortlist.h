// A part of the vocabulary for which a head gives logits: drafts need no word that the draft model hardly
// ever says, and the head is a third of what a small model reads. Targets never use one. FR-Spec (Zhao et al.
// 2025, arXiv:2502.14856) picks the words by how often they occur.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/types.h"
#include "kernels/matmul/packed_matrix.h"
#include "kernels/runtime/buffer.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

struct Shortlist {
  std::vector<TokenId> ids;  // ascending, at least one
  int vocab_size = 0;        // of the model that made it
  PackedMatrix rows;         // [ids, width] of the head; empty in a model whose head has no weights
  Buffer storage;            // behind `rows`
};

// Rows `ids` of `head` packed anew: the same weights, so each output has the very bits that it has in the
// whole.
void PackShortlist(const PackedMatrix& head, ThreadPool& threads, Shortlist& shortlist);

}  // namespace forerun
