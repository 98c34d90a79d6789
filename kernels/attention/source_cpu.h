// The source pass on the CPU, for instance_cpu.cpp.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/edges.h"
#include "kernels/core/isa.h"
#include "kernels/core/reduce_rows.h"

namespace sage {

template <class Score, class T>
void attention_source_pass_cpu(const AttentionSourcePass<T>& p, Score score,
                               const Executor& executor) {
  using A = Acc<T>;
  const int64_t k_elements = p.heads * p.key_dim, v_elements = p.heads * p.value_dim;
  with_isa([&](auto isa) {
    using Edges = AttentionSourceEdges<isa, Score, T>;
    reduce_rows<A>(
        p.graph.indptr, p.graph.num_rows, executor, Edges::sizes(p),
        [&](int64_t row, int64_t begin, int64_t end, A* sums, A* scratch) {
          Edges::push(p, score, row, begin, end, sums, scratch);
        },
        [&](A* into, const A* other) {
          for (int64_t c = 0; c < k_elements + v_elements; ++c) into[c] += other[c];
        },
        [&](int64_t row, const A* total) {
          T* dk = p.dk + row * k_elements;
          T* dv = p.dv + row * v_elements;
          for (int64_t c = 0; c < k_elements; ++c) dk[c] = static_cast<T>(total[c]);
          for (int64_t c = 0; c < v_elements; ++c) dv[c] = static_cast<T>(total[k_elements + c]);
        });
  });
}

}  // namespace sage
