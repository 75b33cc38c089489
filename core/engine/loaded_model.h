// A model file made ready to run: weights packed, tokenizer read, KV layout registered.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/kv/kv_pool.h"
#include "core/model/fusion.h"
#include "core/model/numerics.h"
#include "core/model/transformer.h"
#include "core/tokenizer/tokenizer.h"
#include "kernels/kernels.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

struct ModelOptions {
  Numerics numerics = Numerics::kA8;
  KvDtype kv_dtype = KvDtype::kF16;
  Fusion fusion = {};
  PackedCacheOptions packed_cache = {};
};

struct LoadedModel {
  std::string path;
  std::string architecture;  // "llama", "qwen2", "gemma3"
  std::size_t file_bytes = 0;
  std::size_t packed_bytes = 0;  // resident weights
  int64_t parameters = 0;
  std::string note;  // on loading, for the user: one line or empty
  std::unique_ptr<Transformer> model;
  std::unique_ptr<Tokenizer> tokenizer;
};

// `name`: a path, or a name under `models/` with or without ".gguf". NotFound names what was tried and how to
// fetch.
absl::StatusOr<std::string> ResolveModelPath(absl::string_view name);

// `kernels`, `threads` and `pool` outlive the result.
absl::StatusOr<LoadedModel> LoadModel(absl::string_view path, const ModelOptions& options,
                                      const Kernels& kernels, ThreadPool& threads, KvPool& pool);

}  // namespace forerun
