// Content that is wrong where only this program, or a tool that makes models, writes is damage, not a wrong
// request: the user's next step is another file, not another flag.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace forerun {

// DataLoss for InvalidArgument; everything else as it is.
template <class T>
absl::StatusOr<T> AsDamage(absl::StatusOr<T> result) {
  if (result.status().code() != absl::StatusCode::kInvalidArgument) return result;
  return absl::DataLossError(result.status().message());
}

}  // namespace forerun
