// `forerun bench model --serve`: measurements on request, for a program that takes turns with another one.
#pragma once

#include "absl/status/status.h"
#include "experiments/bench/model_bench.h"
#include "experiments/run/machine.h"

namespace forerun {

// One JSON line in, one out, until standard input ends. The first line out says that the model is loaded.
// Rows follow `context` tokens where a request does not say how many.
absl::Status ServeBench(Machine& machine, const std::string& model, const ModelBenchOptions& options,
                        int context);

}  // namespace forerun
