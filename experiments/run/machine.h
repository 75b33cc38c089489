// One process's hardware and memory, and the models loaded into it: what every command that computes starts
// with.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "core/engine/loaded_model.h"
#include "core/kv/kv_pool.h"
#include "experiments/config/config.h"
#include "kernels/kernels.h"
#include "kernels/runtime/thread_pool.h"

namespace forerun {

class Machine {
 public:
  // InvalidArgument where the config names instructions that this machine lacks.
  static absl::StatusOr<std::unique_ptr<Machine>> Create(const EngineConfig& config);

  // `name`: see ResolveModelPath(). What is wrong with the file itself is DataLoss.
  absl::StatusOr<LoadedModel> Load(const std::string& name) { return Load(name, config_.numerics); }
  absl::StatusOr<LoadedModel> Load(const std::string& name, const std::string& numerics);

  const Kernels& kernels() const { return kernels_; }
  int num_threads() const { return threads_->num_threads(); }
  KvPool& pool() { return *pool_; }
  ThreadPool& threads() { return *threads_; }
  const EngineConfig& config() const { return config_; }

 private:
  Machine(EngineConfig config, Isa isa) : config_(std::move(config)), kernels_(isa) {}

  EngineConfig config_;
  Kernels kernels_;
  std::unique_ptr<ThreadPool> threads_;
  std::unique_ptr<KvPool> pool_;
};

// A target and, where one is named, its draft model.
struct ModelPair {
  LoadedModel target;
  std::optional<LoadedModel> draft;

  int vocab_size() const { return target.model->vocab_size(); }
};
absl::StatusOr<ModelPair> LoadModelPair(Machine& machine, const std::string& target,
                                        const std::string& draft);

// Most memory that the process has had resident so far.
int64_t PeakRssBytes();

}  // namespace forerun
