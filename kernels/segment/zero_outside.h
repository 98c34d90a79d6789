// Rows that no segment owns.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/segment/segment.h"

namespace sage {

// Writes 0 to the rows of out [num_rows, width] before the first and behind the last segment.
template <class T>
void zero_outside(const Segments<T>& s, T* out) {
  const int64_t begin = s.indptr[0], end = s.indptr[s.num_segments];
  std::fill(out, out + begin * s.width, T{});
  std::fill(out + end * s.width, out + s.num_rows * s.width, T{});
}

}  // namespace sage
