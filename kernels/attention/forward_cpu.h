// The forward on the CPU, for instance_cpu.cpp.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/edges.h"
#include "kernels/core/isa.h"
#include "kernels/core/reduce_rows.h"
#include "kernels/core/softmax_state.h"

namespace sage {

// into = into and then other.
template <class A>
void merge_forward(const ForwardPartial<A>& into, const ForwardPartial<A>& other, int64_t heads,
                   int64_t value_dim) {
  for (int64_t h = 0; h < heads; ++h) {
    SoftmaxState<A> state{into.softmax_max[h], into.softmax_sum[h]};
    const auto factor = state.merge({other.softmax_max[h], other.softmax_sum[h]});
    into.softmax_max[h] = state.max;
    into.softmax_sum[h] = state.sum;
    for (int64_t c = h * value_dim; c < (h + 1) * value_dim; ++c) {
      into.sums[c] = into.sums[c] * factor.self + other.sums[c] * factor.other;
    }
  }
}

// Writes out and lse of `row`.
template <class T>
void finish_forward(const AttentionForward<T>& p, int64_t row,
                    const ForwardPartial<Acc<T>>& total) {
  using A = Acc<T>;
  for (int64_t h = 0; h < p.heads; ++h) {
    const A sum = total.softmax_sum[h];
    const A inverse = 1 / sum;
    const A* sums = total.sums + h * p.value_dim;
    T* out = p.out + (row * p.heads + h) * p.value_dim;
    for (int64_t c = 0; c < p.value_dim; ++c) {
      out[c] = static_cast<T>(sum == 0 ? A{0} : sums[c] * inverse);
    }
    // SoftmaxState::log_sum_exp without its branches: log(0) is -inf, log(NaN) is NaN.
    p.lse[row * p.heads + h] =
        total.softmax_max[h] * static_cast<A>(0.693147180559945309417) + std::log(sum);
  }
}

template <class Score, class T>
void attention_forward_cpu(const AttentionForward<T>& p, Score score, const Executor& executor) {
  using A = Acc<T>;
  const auto partial = [&](A* storage) { return ForwardPartial<A>(storage, p.heads, p.value_dim); };
  with_isa([&](auto isa) {
    using Edges = AttentionForwardEdges<isa, Score, T>;
    reduce_rows<A>(
        p.graph.indptr, p.graph.num_rows, executor, Edges::sizes(p),
        [&](int64_t row, int64_t begin, int64_t end, A* sums, A* scratch) {
          Edges::push(p, score, row, begin, end, sums, scratch);
        },
        [&](A* into, A* other) {
          merge_forward(partial(into), partial(other), p.heads, p.value_dim);
        },
        [&](int64_t row, A* total) { finish_forward(p, row, partial(total)); });
  });
}

}  // namespace sage
