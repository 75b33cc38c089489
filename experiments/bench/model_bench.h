// How long a model's forwards take: n rows after a context, which is what one verification costs, and
// prefill. The tokens are arbitrary; no forward's time depends on them.
#pragma once

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "core/kv/block_table.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"

namespace forerun {

struct ModelBenchOptions {
  int prefill_chunk = 256;
  WantedOutput wanted = WantedOutput::kArgmax;  // of every timed row; or kFull
};

class ModelBench {
 public:
  // `model` and `pool` outlive it.
  ModelBench(Model& model, KvPool& pool, const ModelBenchOptions& options);

  // Computes and keeps a context of so many tokens, from the longest kept one that it continues.
  // InvalidArgument for more than the model takes.
  absl::Status Prepare(int context);

  // Milliseconds of each of `repeat` forwards over `rows` rows that follow `context` tokens. The rows are
  // dropped again, and a forward before the first goes untimed. InvalidArgument where the context and the
  // rows do not fit into the model.
  absl::StatusOr<std::vector<double>> TimeRows(int context, int rows, int repeat);

  // Seconds until the output after a prompt of `tokens` tokens is there.
  absl::StatusOr<double> TimePrefill(int tokens);

 private:
  absl::Status CheckFits(int tokens) const;
  ForwardBatch MakeBatch(BlockTable& table, int rows, WantedOutput wanted, WantedOutput wanted_last) const;
  absl::Status Fill(BlockTable& table, int tokens);

  Model& model_;
  KvPool& pool_;
  ModelBenchOptions options_;
  std::map<int, BlockTable> contexts_;  // by their tokens; they share blocks
};

}  // namespace forerun
