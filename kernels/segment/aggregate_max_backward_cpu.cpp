// Backward of gather-and-maximum on the CPU.
#include <cstdint>

#include "kernels/core/isa.h"
#include "kernels/core/reduce_rows.h"
#include "kernels/segment/aggregate.h"
#include "kernels/segment/aggregate_edges.h"

namespace sage {

template <class T>
void aggregate_max_backward_cpu(const AggregateMaxBackward<T>& p, const Executor& executor) {
  using A = Acc<T>;
  const int64_t elements = p.heads * p.dim;
  with_isa([&](auto isa) {
    reduce_rows<A>(
        p.graph.indptr, p.graph.num_rows, executor, {.partial = elements},
        [&](int64_t row, int64_t begin, int64_t end, A* dx, A*) {
          AggregateMaxBackwardEdges<isa, T>::push(p, row, begin, end, dx);
        },
        [&](A* into, const A* other) {
          for (int64_t c = 0; c < elements; ++c) into[c] += other[c];
        },
        [&](int64_t row, const A* dx) {
          T* out = p.dx + row * elements;
          for (int64_t c = 0; c < elements; ++c) out[c] = static_cast<T>(dx[c]);
        });
  });
}

template void aggregate_max_backward_cpu(const AggregateMaxBackward<float>&, const Executor&);
template void aggregate_max_backward_cpu(const AggregateMaxBackward<double>&, const Executor&);
template void aggregate_max_backward_cpu(const AggregateMaxBackward<bfloat16>&, const Executor&);

}  // namespace sage
