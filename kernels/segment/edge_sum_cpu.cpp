// Sums of per-edge numbers over each row on the CPU. Bound by the gather: no vector code needed.
#include <cstdint>

#include "kernels/core/reduce_rows.h"
#include "kernels/segment/aggregate.h"
#include "kernels/segment/aggregate_edges.h"

namespace sage {

template <class T>
void edge_sum_cpu(const EdgeSum<T>& p, const Executor& executor) {
  using A = Acc<T>;
  reduce_rows<A>(
      p.graph.indptr, p.graph.num_rows, executor, {.partial = p.heads},
      [&](int64_t, int64_t begin, int64_t end, A* sum, A*) {
        for (int64_t h = 0; h < p.heads; ++h) sum[h] = 0;
        for (int64_t e = begin; e < end; ++e) {
          const T* weight = p.weight + weight_at(p, e) * p.heads;
          for (int64_t h = 0; h < p.heads; ++h) sum[h] += static_cast<A>(weight[h]);
        }
      },
      [&](A* into, const A* other) {
        for (int64_t h = 0; h < p.heads; ++h) into[h] += other[h];
      },
      [&](int64_t row, const A* sum) {
        for (int64_t h = 0; h < p.heads; ++h) p.out[row * p.heads + h] = static_cast<T>(sum[h]);
      });
}

template void edge_sum_cpu(const EdgeSum<float>&, const Executor&);
template void edge_sum_cpu(const EdgeSum<double>&, const Executor&);
template void edge_sum_cpu(const EdgeSum<bfloat16>&, const Executor&);

}  // namespace sage
