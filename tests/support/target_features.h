// A target's hidden states at the rows of a text, as the engine would hand them to a drafter.
#pragma once

#include <span>
#include <vector>

#include "core/engine/features.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"

namespace forerun {

// Of rows first .. text.size() - 1.
Features FeaturesOf(Model& target, KvPool& pool, std::span<const TokenId> text, std::vector<int> taps,
                    int first = 0);

}  // namespace forerun
