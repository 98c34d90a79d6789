// Graph attention, out_i = sum_j a_ij v_j over the in-edges j -> i, a_i = softmax_j(logit_ij): the
// public interface of its kernels. T is float, double or bfloat16; Acc<T> float, double, float.
//
// H heads; all arrays are dense and row-major. Per-edge input is in the order of edge ids.
// CUDA entry points enqueue on `stream` and neither allocate nor synchronise; the caller provides
// the workspace. On CUDA, rows of q, k, v, out and their gradients are 16-byte aligned, which means
// aligned pointers and dims that are multiples of 16 / sizeof(T) (a kPerFeature score's key_dim and
// every value_dim; one-number-a-head operands have no such need).
// Row sums follow a fixed order: the same input gives the same bits, on any number of threads.
#pragma once

#include <cstdint>

#include "kernels/attention/score.h"
#include "kernels/core/csr.h"
#include "kernels/core/dtype.h"
#include "kernels/core/parallel.h"

struct CUstream_st;

namespace sage {

using CudaStream = CUstream_st*;

// What an edge brings of its own. All may be absent.
template <class T>
struct EdgeTerms {
  const T* bias = nullptr;        // [E, H], added to the logit before the softmax
  const T* weight = nullptr;      // [E, weight_heads], multiplies the attention after it
  int64_t weight_heads = 1;       // 1 or H
  double dropout = 0;             // probability of dropping an attention weight, in [0, 1)
  const int64_t* seed = nullptr;  // [1], on the operands' device; read when dropout > 0
};

template <class T>
struct AttentionForward {
  CsrView graph;
  ScheduleView schedule;  // CUDA only
  int64_t heads = 0, key_dim = 0, value_dim = 0;
  const T* q = nullptr;  // [num_rows, H, key_dim]
  const T* k = nullptr;  // [num_cols, H, key_dim]
  const T* v = nullptr;  // [num_cols, H, value_dim]
  EdgeTerms<T> edge;
  T* out = nullptr;           // [num_rows, H, value_dim]; 0 for a row without edges
  Acc<T>* lse = nullptr;      // [num_rows, H] natural log-sum-exp; -inf for a row without edges
  Acc<T>* partial = nullptr;  // CUDA only: [attention_forward_partial_size(...)]
};

// Source pass of the backward, over the transpose: row j of `graph` is a source, its entries are
// the destinations. Writes dk, dv, and per edge and head the gradient of `sum` (before
// score.finish).
template <class T>
struct AttentionSourcePass {
  CsrView graph;          // the transpose; edge_ids are the caller's
  ScheduleView schedule;  // CUDA only, the transpose's
  int64_t heads = 0, key_dim = 0, value_dim = 0;
  const T* q = nullptr;               // [num_cols, H, key_dim]
  const T* k = nullptr;               // [num_rows, H, key_dim]
  const T* v = nullptr;               // [num_rows, H, value_dim]
  const T* grad = nullptr;            // [num_cols, H, value_dim] gradient of out
  const Acc<T>* lse_delta = nullptr;  // [num_cols, H, 2]: lse and grad . out, see attention_delta
  EdgeTerms<T> edge;
  T* dk = nullptr;       // [num_rows, H, key_dim]
  T* dv = nullptr;       // [num_rows, H, value_dim]
  T* dsum = nullptr;     // [num_edges, H] in the transpose's order
  T* dbias = nullptr;    // [E, H] by edge id, or null
  T* dweight = nullptr;  // [E, H] by edge id, or null (a caller with [E] weights adds the heads up)
  Acc<T>* partial = nullptr;  // CUDA only: [attention_source_partial_size(...)]
};

// The gradient of q needs no pass of its own here: with dsum handed over, kBilinear scores take
// dq_i = sum_e dsum_e k_j from segment/aggregate.h (Aggregate), one-number scores from EdgeSum.
//
// lse_delta[i, h] = {lse[i, h], sum_c grad[i, h, c] * out[i, h, c]} for `count` = rows * H heads.
template <class T>
void attention_delta_cpu(int64_t count, int64_t value_dim, const T* grad, const T* out,
                         const Acc<T>* lse, Acc<T>* lse_delta, const Executor& executor);
template <class T>
void attention_delta_cuda(int64_t count, int64_t value_dim, const T* grad, const T* out,
                          const Acc<T>* lse, Acc<T>* lse_delta, CudaStream stream);

template <class Score, class T>
void attention_forward_cpu(const AttentionForward<T>& p, Score score, const Executor& executor);
template <class Score, class T>
void attention_forward_cuda(const AttentionForward<T>& p, Score score, CudaStream stream);

template <class Score, class T>
void attention_source_pass_cpu(const AttentionSourcePass<T>& p, Score score,
                               const Executor& executor);
template <class Score, class T>
void attention_source_pass_cuda(const AttentionSourcePass<T>& p, Score score, CudaStream stream);

// Elements of Acc<T> that the partial results of split rows need.
inline int64_t attention_forward_partial_size(const ScheduleView& s, int64_t heads,
                                              int64_t value_dim) {
  return s.num_slots() * heads * (value_dim + 2);
}
inline int64_t attention_source_partial_size(const ScheduleView& s, int64_t heads, int64_t key_dim,
                                             int64_t value_dim) {
  return s.num_slots() * heads * (key_dim + value_dim);
}

// Sampled dense-dense product: out[e, h] = sum_c x[i, h, c] * y[j, h, c] for each edge e = j -> i.
template <class T>
struct EdgeDot {
  CsrView graph;
  ScheduleView schedule;  // CUDA only
  int64_t heads = 0, dim = 0;
  const T* x = nullptr;  // [num_rows, H, dim]
  const T* y = nullptr;  // [num_cols, H, dim]
  T* out = nullptr;  // [num_edges, H] in CSR order; entries behind indptr[num_rows] are untouched
};
template <class T>
void edge_dot_cpu(const EdgeDot<T>& p, const Executor& executor);
template <class T>
void edge_dot_cuda(const EdgeDot<T>& p, CudaStream stream);

// The ceiling of the forward: out_i = sum_j (k_j + v_j), the same rows read by the same schedule
// and nothing else done. For benches. Split rows are not merged.
template <class T>
struct GatherCeiling {
  CsrView graph;
  ScheduleView schedule;
  int64_t row_elements = 0;  // H * D
  const T* k = nullptr;      // [num_cols, row_elements]
  const T* v = nullptr;      // [num_cols, row_elements], or null: one table only
  T* out = nullptr;          // [num_rows, row_elements]
};
template <class T>
void gather_ceiling_cuda(const GatherCeiling<T>& p, CudaStream stream);

}  // namespace sage
