// Broken invariants that only our own code can cause: print where and what, then abort.
// What the outside world can cause is an absl::Status instead.
#pragma once

#include <cstdio>
#include <cstdlib>

#define FORERUN_CHECK(condition)                                                         \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
