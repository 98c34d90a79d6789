// Gather and reduce on the CPU.
#include <cstdint>

#include "kernels/core/check.h"
#include "kernels/core/isa.h"
#include "kernels/core/reduce_rows.h"
#include "kernels/segment/aggregate.h"
#include "kernels/segment/aggregate_edges.h"

namespace sage {
namespace {

template <class T>
void aggregate_sum(const Aggregate<T>& p, const Executor& executor) {
  using A = Acc<T>;
  const int64_t elements = p.heads * p.dim;
  with_isa([&](auto isa) {
    using Edges = AggregateEdges<isa, T>;
    reduce_rows<A>(
        p.graph.indptr, p.graph.num_rows, executor, Edges::sum_sizes(p),
        [&](int64_t, int64_t begin, int64_t end, A* sum, A* scratch) {
          Edges::push_sum(p, begin, end, sum, scratch);
        },
        [&](A* into, const A* other) {
          for (int64_t c = 0; c < elements; ++c) into[c] += other[c];
        },
        [&](int64_t row, const A* sum) {
          const int64_t degree = p.graph.indptr[row + 1] - p.graph.indptr[row];
          const bool mean = p.reduce == Reduce::kMean && degree > 0;
          const A scale = mean ? 1 / static_cast<A>(degree) : A{1};
          T* out = p.out + row * elements;
          for (int64_t c = 0; c < elements; ++c) out[c] = static_cast<T>(scale * sum[c]);
        });
  });
}

template <class T>
void aggregate_max(const Aggregate<T>& p, const Executor& executor) {
  using A = Acc<T>;
  using Best = Winner<A>;
  const int64_t elements = p.heads * p.dim;
  with_isa([&](auto isa) {
    reduce_rows<Best>(
        p.graph.indptr, p.graph.num_rows, executor, {.partial = elements},
        [&](int64_t, int64_t begin, int64_t end, Best* best, Best*) {
          AggregateEdges<isa, T>::push_max(p, begin, end, best);
        },
        [&](Best* into, const Best* other) {
          for (int64_t c = 0; c < elements; ++c) merge_winner(into[c], other[c]);
        },
        [&](int64_t row, const Best* best) {
          for (int64_t c = 0; c < elements; ++c) {
            const int64_t at = row * elements + c, edge = best[c].position;
            p.out[at] = static_cast<T>(best[c].value);
            p.arg[at] = edge < 0 ? -1 : p.graph.edge_id(edge);
          }
        });
  });
}

}  // namespace

template <class T>
void aggregate_cpu(const Aggregate<T>& p, const Executor& executor) {
  check(p.reduce != Reduce::kMin, [] { return "aggregate: reduce must be sum, mean or max"; });
  if (p.reduce == Reduce::kMax) {
    aggregate_max(p, executor);
  } else {
    aggregate_sum(p, executor);
  }
}

template void aggregate_cpu(const Aggregate<float>&, const Executor&);
template void aggregate_cpu(const Aggregate<double>&, const Executor&);
template void aggregate_cpu(const Aggregate<bfloat16>&, const Executor&);

}  // namespace sage
