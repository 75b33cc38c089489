#include "experiments/commands/exit_code.h"

namespace forerun {

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
      return kExitUsage;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kUnimplemented:  // a model file that asks for more than is supported
      return kExitFile;
    case absl::StatusCode::kResourceExhausted:
      return kExitResources;
    case absl::StatusCode::kCancelled:
      return kExitInterrupted;
    default:
      return kExitInternal;
  }
}

const char* ExitCodeTable() {
  return "Exit codes:\n"
         "   0  done\n"
         "   2  wrong usage, or a config that is wrong or contradicts itself\n"
         "   3  a file or model is missing, damaged or may not be written\n"
         "   4  out of KV memory or disk\n"
         "   5  stopped on request; what is done is kept and can be resumed\n"
         "  70  a fault of the program itself\n";
}

}  // namespace forerun
