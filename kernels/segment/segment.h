// Reductions and softmax over consecutive rows of a dense [E, width] array; segment s is rows
// indptr[s] .. indptr[s+1]-1. The smallest operators here, and the ones to copy for a new one.
#pragma once

#include <cstdint>

#include "kernels/core/dtype.h"
#include "kernels/core/parallel.h"
#include "kernels/segment/aggregate.h"

namespace sage {

template <class T>
struct Segments {
  const int64_t* indptr = nullptr;  // [num_segments + 1]
  int64_t num_segments = 0;
  int64_t num_rows = 0;  // of src; rows outside every segment get 0
  int64_t width = 0;     // elements a row
};

// out[e, c] = exp(src[e, c] - lse of its segment); a segment that is all -inf gives 0.
template <class T>
void segment_softmax_cpu(const Segments<T>& s, const T* src, T* out, const Executor& executor);
template <class T>
void segment_softmax_cuda(const Segments<T>& s, const T* src, T* out, CudaStream stream);

// dsrc = out * (grad - sum over the segment of grad * out).
template <class T>
void segment_softmax_backward_cpu(const Segments<T>& s, const T* grad, const T* out, T* dsrc,
                                  const Executor& executor);
template <class T>
void segment_softmax_backward_cuda(const Segments<T>& s, const T* grad, const T* out, T* dsrc,
                                   CudaStream stream);

// out [num_segments, width]; an empty segment gives 0. arg (kMax, kMin): row of the first winner,
// -1 for an empty segment.
template <class T>
void segment_reduce_cpu(const Segments<T>& s, Reduce reduce, const T* src, T* out, int64_t* arg,
                        const Executor& executor);
template <class T>
void segment_reduce_cuda(const Segments<T>& s, Reduce reduce, const T* src, T* out, int64_t* arg,
                         CudaStream stream);

// Gradient of src. kSum and kMean read indptr, kMax and kMin read arg.
template <class T>
void segment_reduce_backward_cpu(const Segments<T>& s, Reduce reduce, const T* grad,
                                 const int64_t* arg, T* dsrc, const Executor& executor);
template <class T>
void segment_reduce_backward_cuda(const Segments<T>& s, Reduce reduce, const T* grad,
                                  const int64_t* arg, T* dsrc, CudaStream stream);

}  // namespace sage
