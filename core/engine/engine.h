// Speculative decoding over a batch: propose -> place -> forward -> verify -> commit. Drafter, rule, K and
// sampling are per request. The engine does not know that logs exist: a step returns its records.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/engine/request.h"
#include "core/engine/round_record.h"
#include "core/kv/kv_pool.h"
#include "core/model/model.h"

namespace forerun {

struct EngineOptions {
  int max_sequences = 16;  // in one batch; the others wait in order of arrival
  int max_batch_rows =
      512;  // rows of one target forward; verify rows first, then prefill chunks with what is left
  int prefill_chunk = 256;  // most prefill rows of one sequence in one forward
};

struct StepResult {
  std::vector<RoundRecord> rounds;  // one for each sequence that was verified
  std::vector<RequestResult> finished;
  int prefill_rows = 0;
};

class Engine {
 public:
  // `target` and `pool` outlive the engine; drafters and verifiers outlive their requests.
  Engine(Model& target, KvPool& pool, const EngineOptions& options);
  ~Engine();

  // InvalidArgument for an empty or too long prompt, ids outside the vocabulary, bad sampling, a rule that is
  // not lossless for the drafter's proposals, or an id that is in use.
  absl::Status Add(Request request);
  bool idle() const;  // nothing left to do
  // One forward over what is ready. A request that runs out of KV finishes with ResourceExhausted, the others
  // go on.
  absl::StatusOr<StepResult> Step();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Steps until idle and returns the results in order of finishing.
absl::StatusOr<std::vector<RequestResult>> RunToCompletion(Engine& engine);

}  // namespace forerun
