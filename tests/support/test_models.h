// Real models for tests: the tiny pair that comes with the project, and the pinned files where they were
// fetched.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/base/json.h"
#include "core/engine/loaded_model.h"

namespace forerun {

// A loaded model with everything it stands on.
struct TestModel {
  TestModel(const std::string& path, const ModelOptions& options, int threads,
            const Kernels& kernels = Kernels(DetectIsa()));

  Kernels kernels;
  ThreadPool threads;
  std::unique_ptr<KvPool> pool;
  LoadedModel loaded;

  Model& model() { return *loaded.model; }
  const Tokenizer& tokenizer() { return *loaded.tokenizer; }
};

std::string TinyTargetPath();
std::string TinyDraftPath();
// The four pinned files by name, without ".gguf".
const std::vector<std::string>& PinnedModels();
// Empty where the file was not fetched.
std::string PinnedModelPath(absl::string_view name);

// tests/golden/oracle/<name>.json; see the README there.
Json ReadOracle(absl::string_view name);

// The text that explains a skipped test.
std::string NotFetched(absl::string_view name);

}  // namespace forerun
