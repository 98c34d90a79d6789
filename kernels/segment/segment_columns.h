// The vectorised parts of the segment operators, one variant for each instruction set: columns of
// consecutive rows of a [rows, width] array. Defined in segment_columns_isa.cpp.
#pragma once

#include <cstdint>

#include "kernels/core/dtype.h"
#include "kernels/core/isa.h"
#include "kernels/segment/winner.h"

namespace sage {

// `rows` is at most RowPlan::kWork; what is written per column has `width` elements.
template <Isa kIsa, class T>
struct SegmentColumns {
  using A = Acc<T>;

  // sum[c] = sum of x[., c]
  static void sum(const T* x, int64_t rows, int64_t width, A* sum);
  // sum[c] = sum of x[., c] * y[., c]
  static void dot(const T* x, const T* y, int64_t rows, int64_t width, A* sum);
  // Maximum of sign * x[., c], and its row, counted from `first`.
  static void winner(const T* x, A sign, int64_t first, int64_t rows, int64_t width,
                     Winner<A>* best);

  // max[c] = maximum of x[., c] (NaN aside), sum[c] = sum of exp(x[., c] - max[c])
  static void softmax_state(const T* x, int64_t rows, int64_t width, A* max, A* sum);
  // out = exp(x - max) / sum, 0 where sum is
  static void softmax(const T* x, int64_t rows, int64_t width, const A* max, const A* sum, T* out);
  // dx = out * (grad - dot)
  static void softmax_backward(const T* grad, const T* out, int64_t rows, int64_t width,
                               const A* dot, T* dx);
};

}  // namespace sage
