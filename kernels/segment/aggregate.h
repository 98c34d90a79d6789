// Gather and reduce: out_i = reduce over in-edges j -> i of w_e * x_j, nothing stored per edge.
#pragma once

#include <cstdint>

#include "kernels/core/csr.h"
#include "kernels/core/dtype.h"
#include "kernels/core/parallel.h"

struct CUstream_st;

namespace sage {

using CudaStream = CUstream_st*;

enum class Reduce : int32_t { kSum, kMean, kMax, kMin };

// Rows of x, out: H heads of `dim` elements; on CUDA 16-byte aligned (dim a multiple of
// 16 / sizeof(T), aligned pointers). A row without edges gives 0 (and arg -1).
template <class T>
struct Aggregate {
  CsrView graph;
  ScheduleView schedule;  // CUDA only
  int64_t heads = 0, dim = 0;
  Reduce reduce = Reduce::kSum;  // kSum, kMean or kMax
  const T* x = nullptr;          // [num_cols, H, dim]
  const T* weight = nullptr;     // [E, weight_heads], or null: 1
  int64_t weight_heads = 1;      // 1 or H
  // Where an edge finds its weight: at weight_position[position in this CSR]; null: at its edge id.
  IndexSpan weight_position;
  T* out = nullptr;        // [num_rows, H, dim]
  int64_t* arg = nullptr;  // kMax: [num_rows, H, dim], id of the first edge (in CSR order) that won
  Acc<T>* partial = nullptr;  // CUDA only: [aggregate_partial_size(...)]
};
template <class T>
void aggregate_cpu(const Aggregate<T>& p, const Executor& executor);
template <class T>
void aggregate_cuda(const Aggregate<T>& p, CudaStream stream);

// Elements of Acc<T> for split rows; kMax keeps an int64 beside each value.
template <class T>
int64_t aggregate_partial_size(const ScheduleView& s, int64_t row_elements, Reduce reduce) {
  const int64_t per = reduce == Reduce::kMax ? 1 + 8 / static_cast<int64_t>(sizeof(Acc<T>)) : 1;
  return s.num_slots() * row_elements * per;
}

// Backward of kMax over the transpose: dx_j = sum of grad[i, c] * w_e where arg[i, c] is edge e,
// and (when dweight is set) dweight[e, h] = sum of grad[i, c] * x[j, c] over the head's c that e
// won.
template <class T>
struct AggregateMaxBackward {
  CsrView graph;          // the transpose, edge_ids the caller's
  ScheduleView schedule;  // CUDA only, the transpose's
  int64_t heads = 0, dim = 0;
  const T* x = nullptr;          // [num_rows, H, dim] (sources are the transpose's rows)
  const T* grad = nullptr;       // [num_cols, H, dim]
  const int64_t* arg = nullptr;  // [num_cols, H, dim]
  const T* weight = nullptr;     // [E, weight_heads] or null
  int64_t weight_heads = 1;
  T* dx = nullptr;            // [num_rows, H, dim]
  T* dweight = nullptr;       // [E, H] by edge id, or null
  Acc<T>* partial = nullptr;  // CUDA only: [aggregate_partial_size(..., kSum)]
};
template <class T>
void aggregate_max_backward_cpu(const AggregateMaxBackward<T>& p, const Executor& executor);
template <class T>
void aggregate_max_backward_cuda(const AggregateMaxBackward<T>& p, CudaStream stream);

// out[i, h] = sum over row i's edges of weight[at(e), h], at(e) as in Aggregate.
template <class T>
struct EdgeSum {
  CsrView graph;
  ScheduleView schedule;  // CUDA only
  int64_t heads = 0;
  const T* weight = nullptr;  // [E, H]
  IndexSpan weight_position;  // null: at the edge id
  T* out = nullptr;           // [num_rows, H]
  Acc<T>* partial = nullptr;  // CUDA only: [aggregate_partial_size(schedule, heads, kSum)]
};
template <class T>
void edge_sum_cpu(const EdgeSum<T>& p, const Executor& executor);
template <class T>
void edge_sum_cuda(const EdgeSum<T>& p, CudaStream stream);

}  // namespace sage
