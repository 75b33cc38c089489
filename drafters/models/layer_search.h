// Which half-layers a model can best do without on one text: SWIFT's search (Xia et al. 2024,
// arXiv:2410.06916) as a hill climb. The number of skipped halves stays; a candidate skips one that was kept
// and keeps one that was skipped, drawn with keyed numbers, and stands where the subset's best words agree
// with the whole model's at no fewer places of the prompt's end. Cost: one forward of the whole model and one
// of each candidate, over that many rows, on forks of the target's pages. Depends on the prompt and the keys
// of its random numbers alone.
#pragma once

#include "core/engine/drafter.h"
#include "core/model/model.h"

namespace forerun {

struct LayerSearchOptions {
  int candidates = 0;  // 0: no search
  int tokens = 32;     // of the prompt's end; a shorter prompt is used as far as it goes
};

// Evenly spaced halves left out, `share` of those between the first and the last layer, which both stay.
LayerSubset EvenlySpaced(int layers, double share);

absl::StatusOr<LayerSubset> SearchLayers(Model& target, const DraftTask& task, LayerSubset start,
                                         const LayerSearchOptions& options);

}  // namespace forerun
