#include "core/engine/features.h"

#include <algorithm>

#include "core/base/check.h"

namespace forerun {

TappedRows::TappedRows(const ForwardBatch& batch, const ForwardResult& result, std::span<const int> taps,
                       int first_row)
    : result_(&result) {
  int64_t tapped = 0;
  for (int row = 0; row < static_cast<int>(batch.rows.size()); ++row) {
    if (row == first_row) first_tapped_ = static_cast<int>(tapped);
    tapped += batch.rows[row].tapped;
  }
  for (const int tap : taps) {
    const auto found = std::find(batch.taps.begin(), batch.taps.end(), tap);
    FORERUN_CHECK(found != batch.taps.end());
    tap_indices_.push_back(static_cast<int>(found - batch.taps.begin()));
    width_ = static_cast<int>(result.taps[tap_indices_.back()].size() / tapped);
  }
}

void TappedRows::AddTo(Features& features, int64_t position, std::span<const int> rows) const {
  if (features.rows == 0) {
    features.first_position = position;
    features.width = width_;
    features.taps.resize(tap_indices_.size());
  }
  FORERUN_CHECK(features.first_position + features.rows == position);
  for (std::size_t i = 0; i < tap_indices_.size(); ++i) {
    const std::vector<float>& from = result_->taps[tap_indices_[i]];
    for (const int row : rows) {
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first_tapped_ + row) * width_;
      features.taps[i].insert(features.taps[i].end(), begin, begin + width_);
    }
  }
  features.rows += static_cast<int>(rows.size());
}

}  // namespace forerun
