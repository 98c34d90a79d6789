// Sampled dense-dense product on CUDA: a row of x stays in registers, rows of y are gathered.
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/group.cuh"
#include "kernels/attention/operand_check.h"
#include "kernels/attention/rows.cuh"
#include "kernels/core/cuda_check.cuh"

namespace sage {

template <class T, class L>
static __global__ void __launch_bounds__(kThreads, kMinBlocks<T, L, false>)
    edge_dot_kernel(const EdgeDot<T> p, const Groups groups, const RowShape shape) {
  using A = Acc<T>;
  const Place<L> at = find_place<L>(groups);
  if (warp_is_idle(at.task)) return;
  const RowSpan<T, L> span(at, shape);
  const char* const origin = span.origin(p.y);
  Unpacked<T, L> x;
  span.load_unpacked(p.x, at.row, x);
  const bool writes = at.stores && at.part < L::kScatter;

  walk_edges<L, false>(at.task, p.graph, [&](const Chunk<L>& chunk) {
    uint4 y[L::kEdges][L::kVecs];
    A dots[L::kEdges];
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) span.load(origin, chunk.cols[u], y[u]);
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) {
      dots[u] = partial_sum(span, x, y[u], [](A a, A b) { return a * b; });
    }
    reduce_scatter<L>(dots);
#pragma unroll
    for (int o = 0; o < L::kOwned; ++o) {
      const int32_t e = owned_edge(chunk, o);
      if (writes && e < at.task.count) {
        p.out[(at.task.begin + e) * groups.heads + at.head] = round_to<T>(dots[o]);
      }
    }
  });
}

template <class T>
void edge_dot_cuda(const EdgeDot<T>& p, CudaStream stream) {
  if (p.graph.num_rows == 0 || p.heads == 0) return;
  check_graph(p.graph, p.schedule);
  check_rows("x", p.x, p.heads, p.dim, sizeof(T), kMaxDim);
  check_rows("y", p.y, p.heads, p.dim, sizeof(T), kMaxDim);
  with_lanes<T>(p.dim, [&](auto lanes) {
    using L = decltype(lanes);
    const Groups groups = make_groups<L>(p.schedule, p.heads);
    edge_dot_kernel<T, L>
        <<<groups.blocks, kThreads, 0, stream>>>(p, groups, make_shape<T>(p.heads, p.dim));
    launch_check("edge_dot");
  });
}

template void edge_dot_cuda<float>(const EdgeDot<float>&, CudaStream);
template void edge_dot_cuda<double>(const EdgeDot<double>&, CudaStream);
template void edge_dot_cuda<bfloat16>(const EdgeDot<bfloat16>&, CudaStream);

}  // namespace sage
