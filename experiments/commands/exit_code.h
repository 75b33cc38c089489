// The program's exit codes, the same for every command.
#pragma once

#include "absl/status/status.h"

namespace forerun {

enum ExitCode {
  kExitOk = 0,
  kExitUsage = 2,        // wrong usage, or a config that is wrong or contradicts itself
  kExitFile = 3,         // a file or model is missing, damaged or may not be written
  kExitResources = 4,    // out of KV memory or disk
  kExitInterrupted = 5,  // stopped on request; what is done is kept and can be resumed
  kExitInternal = 70,    // a fault of the program itself
};

int ExitCodeOf(const absl::Status& status);

// For --help.
const char* ExitCodeTable();

}  // namespace forerun
