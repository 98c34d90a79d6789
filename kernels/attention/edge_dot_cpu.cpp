// edge_dot and attention_delta on the CPU.
#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/edges.h"
#include "kernels/core/isa.h"
#include "kernels/core/reduce_rows.h"

namespace sage {

template <class T>
void edge_dot_cpu(const EdgeDot<T>& p, const Executor& executor) {
  with_isa([&](auto isa) {
    reduce_rows<Acc<T>>(
        p.graph.indptr, p.graph.num_rows, executor, {},
        [&](int64_t row, int64_t begin, int64_t end, Acc<T>*, Acc<T>*) {
          EdgeDotEdges<isa, T>::push(p, row, begin, end);
        },
        [](Acc<T>*, Acc<T>*) {}, [](int64_t, Acc<T>*) {});
  });
}

template <class T>
void attention_delta_cpu(int64_t count, int64_t value_dim, const T* grad, const T* out,
                         const Acc<T>* lse, Acc<T>* lse_delta, const Executor& executor) {
  constexpr int64_t kGrain = 1024;
  with_isa([&](auto isa) {
    parallel_for(executor, count, kGrain, [&](int64_t begin, int64_t end) {
      AttentionDelta<isa, T>::run(begin, end, value_dim, grad, out, lse, lse_delta);
    });
  });
}

template void edge_dot_cpu(const EdgeDot<float>&, const Executor&);
template void edge_dot_cpu(const EdgeDot<double>&, const Executor&);
template void edge_dot_cpu(const EdgeDot<bfloat16>&, const Executor&);
template void attention_delta_cpu(int64_t, int64_t, const float*, const float*, const float*,
                                  float*, const Executor&);
template void attention_delta_cpu(int64_t, int64_t, const double*, const double*, const double*,
                                  double*, const Executor&);
template void attention_delta_cpu(int64_t, int64_t, const bfloat16*, const bfloat16*, const float*,
                                  float*, const Executor&);

}  // namespace sage
