// What a run was made on: the machine, the build, the numerics, and the exact models and prompts.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "core/base/json.h"
#include "experiments/run/machine.h"

namespace forerun {

// Paths of the models are those that were loaded. "inputs" holds what must not change between the sessions of
// a run: hashes of the models, their tokenizers and the prompt file.
absl::StatusOr<Json> DescribeEnvironment(const Machine& machine, const ModelPair& models,
                                         const std::string& prompt_file);

// SHA-256 over the texts and kinds of all tokens, in order.
std::string TokenizerHash(const Tokenizer& tokenizer);

}  // namespace forerun
