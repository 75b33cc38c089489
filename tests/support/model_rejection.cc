#include "tests/support/model_rejection.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "core/engine/loaded_model.h"

namespace forerun {

RandomModelSpec SmallSpec(const std::string& architecture) {
  return {.architecture = architecture,
          .layers = 2,
          .width = 96,
          .ffn_width = 128,
          .heads = 2,
          .kv_heads = 1,
          .head_size = 32};
}

absl::Status LoadStatus(const std::string& path) {
  const Kernels kernels(DetectIsa());
  ThreadPool threads(1);
  const std::unique_ptr<KvPool> pool = *KvPool::Create({.budget_bytes = 1 << 20, .slab_bytes = 1 << 18});
  return LoadModel(path, {}, kernels, threads, *pool).status();
}

testing::AssertionResult IsRefused(const ModelParts& parts, absl::string_view subject,
                                   absl::string_view what) {
  const ModelFile file(parts);
  const absl::Status status = LoadStatus(file.path());
  const absl::string_view line = status.message();
  if ((absl::IsInvalidArgument(status) || absl::IsNotFound(status)) && !absl::StrContains(line, '\n') &&
      absl::StartsWith(line, absl::StrCat(file.path(), ": ", subject)) &&
      absl::StrContains(line, ": expected ") && absl::StrContains(line, ", found ") &&
      absl::StrContains(line, what)) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "wanted \"" << subject << " ... " << what << "\", have " << status;
}

testing::AssertionResult IsLoaded(const ModelParts& parts) {
  const ModelFile file(parts);
  const absl::Status status = LoadStatus(file.path());
  if (status.ok()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << status;
}

}  // namespace forerun
