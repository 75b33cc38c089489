#include "tests/support/test_models.h"

#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "gtest/gtest.h"

namespace forerun {

TestModel::TestModel(const std::string& path, const ModelOptions& options, int num_threads,
                     const Kernels& kernel_table)
    : kernels(kernel_table), threads(num_threads) {
  absl::StatusOr<std::unique_ptr<KvPool>> made = KvPool::Create({});
  FORERUN_CHECK(made.ok());
  pool = *std::move(made);
  absl::StatusOr<LoadedModel> model = LoadModel(path, options, kernels, threads, *pool);
  if (!model.ok()) ADD_FAILURE() << model.status();
  FORERUN_CHECK(model.ok());
  loaded = *std::move(model);
}

std::string TinyTargetPath() {
  return FORERUN_SOURCE_DIR "/tests/data/tiny-python/tiny-python-target-f16.gguf";
}
std::string TinyDraftPath() {
  return FORERUN_SOURCE_DIR "/tests/data/tiny-python/tiny-python-draft-f16.gguf";
}

const std::vector<std::string>& PinnedModels() {
  static const std::vector<std::string>& names =
      *new std::vector<std::string>{"smollm2-135m-instruct-q4_1", "qwen2.5-coder-0.5b-instruct-q4_k_m",
                                    "qwen2.5-coder-1.5b-instruct-q4_k_m", "gemma-3-270m-q4_k_m"};
  return names;
}

std::string PinnedModelPath(absl::string_view name) {
  const std::string path = absl::StrCat(FORERUN_SOURCE_DIR "/models/", name, ".gguf");
  struct stat info;
  return stat(path.c_str(), &info) == 0 ? path : "";
}

Json ReadOracle(absl::string_view name) {
  absl::StatusOr<Json> json =
      ReadJsonFile(absl::StrCat(FORERUN_SOURCE_DIR "/tests/golden/oracle/", name, ".json"));
  if (!json.ok()) ADD_FAILURE() << json.status();
  FORERUN_CHECK(json.ok());
  return *std::move(json);
}

std::string NotFetched(absl::string_view name) {
  return absl::StrCat("models/", name, ".gguf is not there; fetch it with scripts/fetch_models.py ", name);
}

}  // namespace forerun
