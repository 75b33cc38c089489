// Early return on a failed absl::Status or absl::StatusOr.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define FORERUN_RETURN_IF_ERROR(expression)          \
  do {                                               \
    absl::Status forerun_status = (expression);      \
    if (!forerun_status.ok()) return forerun_status; \
  } while (false)

#define FORERUN_CONCAT_INNER(a, b) a##b
#define FORERUN_CONCAT(a, b) FORERUN_CONCAT_INNER(a, b)
#define FORERUN_ASSIGN_OR_RETURN_IMPL(result, target, expression) \
  auto result = (expression);                                     \
  if (!result.ok()) return std::move(result).status();            \
  target = *std::move(result)

// FORERUN_ASSIGN_OR_RETURN(const GgufFile file, GgufFile::Open(path));
#define FORERUN_ASSIGN_OR_RETURN(target, expression) \
  FORERUN_ASSIGN_OR_RETURN_IMPL(FORERUN_CONCAT(forerun_result_, __LINE__), target, expression)
