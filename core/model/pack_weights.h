// The matrices of a model, packed slice by slice or taken from the cache of an earlier load.
#pragma once

#include <span>

#include "core/formats/gguf_file.h"
#include "core/model/packed_cache.h"
#include "core/model/weights.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

// Fills weights.packed, from_cache and note; weights.packed_bytes is the size. Pages of the file are let go
// as they are packed.
void PackWeights(const GgufFile& file, std::span<const PackedPlace> places, ThreadPool& threads,
                 const PackedCacheOptions& cache, ModelWeights& weights);

}  // namespace forerun
