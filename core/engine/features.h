// Hidden states of the target at committed rows, for drafters that read them: gathered from the forwards'
// results, kept until the drafter has looked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/forward_batch.h"

namespace forerun {

// Of consecutive positions of one sequence.
struct Features {
  int64_t first_position = 0;
  int rows = 0;
  int width = 0;
  std::vector<std::vector<float>> taps;  // as Drafter::taps() lists them, each [rows, width]

  std::span<const float> Row(int tap, int row) const {
    return std::span(taps[tap]).subspan(static_cast<std::size_t>(row) * width, width);
  }
};

// The tapped rows of one sequence in a forward.
class TappedRows {
 public:
  TappedRows() = default;  // none
  // `taps`: the drafter's, all of them among the batch's. Batch and result outlive the view. The sequence's
  // rows begin at `first_row`.
  TappedRows(const ForwardBatch& batch, const ForwardResult& result, std::span<const int> taps,
             int first_row);

  bool empty() const { return tap_indices_.empty(); }
  // Adds the states of these rows of the sequence (ascending), the first of which is at `position`.
  // `features` is empty or ends right before it.
  void AddTo(Features& features, int64_t position, std::span<const int> rows) const;

 private:
  const ForwardResult* result_ = nullptr;
  std::vector<int> tap_indices_;  // in the result
  int first_tapped_ = 0;
  int width_ = 0;
};

}  // namespace forerun
