// The vectorised inner parts of attention on the CPU, one variant for each instruction set: defined
// in *_isa.h and *_isa.cpp, called by *_cpu.h and *_cpu.cpp.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/core/isa.h"
#include "kernels/core/reduce_rows.h"

namespace sage {

// What edges of a row add up to in the forward: the softmax state of each head (as SoftmaxState, in
// units of log2) and the sum of exp2(logit - max) * v.
template <class A>
struct ForwardPartial {
  A* sums;         // [H, value_dim]
  A* softmax_max;  // [H]
  A* softmax_sum;  // [H]

  ForwardPartial(A* storage, int64_t heads, int64_t value_dim)
      : sums(storage), softmax_max(storage + heads * value_dim), softmax_sum(softmax_max + heads) {}
};

template <Isa kIsa, class Score, class T>
struct AttentionForwardEdges {
  using A = Acc<T>;
  static ReduceSizes sizes(const AttentionForward<T>& p);
  static void push(const AttentionForward<T>& p, Score score, int64_t row, int64_t begin,
                   int64_t end, A* partial, A* scratch);
};

// The partial result is dk [H, key_dim], then dv [H, value_dim]. Per-edge gradients are written.
template <Isa kIsa, class Score, class T>
struct AttentionSourceEdges {
  using A = Acc<T>;
  static ReduceSizes sizes(const AttentionSourcePass<T>& p);
  static void push(const AttentionSourcePass<T>& p, Score score, int64_t row, int64_t begin,
                   int64_t end, A* partial, A* scratch);
};

// Writes out[e, h] for edges [begin, end) of `row`.
template <Isa kIsa, class T>
struct EdgeDotEdges {
  static void push(const EdgeDot<T>& p, int64_t row, int64_t begin, int64_t end);
};

// Writes lse_delta of entries [begin, end).
template <Isa kIsa, class T>
struct AttentionDelta {
  static void run(int64_t begin, int64_t end, int64_t value_dim, const T* grad, const T* out,
                  const Acc<T>* lse, Acc<T>* lse_delta);
};

}  // namespace sage
