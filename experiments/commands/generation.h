// Does what `forerun generate` was asked: one request through the engine, printed as it comes.
#pragma once

#include "absl/status/status.h"
#include "experiments/commands/generate_options.h"

namespace forerun {

absl::Status Generate(const GenerateOptions& options);

}  // namespace forerun
