// Memory that a forward reuses from call to call, and how its element-wise kernels are cut into chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace forerun {

// The first of at least `size` values, which are kept where they were.
template <class T>
T* Grown(std::vector<T>& values, int64_t size) {
  if (static_cast<int64_t>(values.size()) < size) values.resize(size);
  return values.data();
}

// Rows per chunk of an element-wise kernel: enough work to be worth a thread's while.
inline int64_t RowGrain(int64_t columns) { return std::max<int64_t>(1, 8192 / columns); }

}  // namespace forerun
