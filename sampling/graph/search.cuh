// Binary searches on the device, and the row starts of sorted keys.
#pragma once

#include <cstdint>

#include "kernels/core/csr.h"

namespace sage {

// The first i in [0, count) for which holds(i), or count; holds is false, then true.
template <class Holds>
__device__ inline int64_t first_where(int64_t count, Holds&& holds) {
  int64_t low = 0;
  while (count > 0) {
    const int64_t half = count / 2;
    if (holds(low + half)) {
      count = half;
    } else {
      low += half + 1;
      count -= half + 1;
    }
  }
  return low;
}

// The row that owns position e: in [0, num_rows), which must not be empty.
__device__ inline int64_t row_of(const int64_t* indptr, int64_t num_rows, int64_t e) {
  return first_where(num_rows - 1, [&](int64_t i) { return indptr[i + 1] > e; });
}

}  // namespace sage
