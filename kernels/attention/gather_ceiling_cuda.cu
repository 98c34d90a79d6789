// The ceiling of the attention forward on CUDA: its gathers and its schedule with plain sums.
#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/attention/group.cuh"
#include "kernels/attention/operand_check.h"
#include "kernels/attention/rows.cuh"
#include "kernels/core/cuda_check.cuh"

namespace sage {

// Each lane takes one vector of the row, whatever head it belongs to.
using CeilingLanes = Lanes<1>;

template <class T, bool kValues>
static __global__ void __launch_bounds__(kThreads, 6)
    gather_ceiling_kernel(const GatherCeiling<T> p, const Groups groups, const RowShape shape) {
  using L = CeilingLanes;
  const Place<L> at = find_place<L>(groups);
  if (warp_is_idle(at.task)) return;
  const RowSpan<T, L> span(at, shape);
  const char* const k_origin = span.origin(p.k);
  const char* const v_origin = span.origin(kValues ? p.v : p.k);
  Unpacked<T, L> sums;
  set_zero<T, L>(sums);

  walk_edges<L, false>(at.task, p.graph, [&](const Chunk<L>& chunk) {
    uint4 k[L::kEdges][1], v[L::kEdges][1];
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) {
      span.load(k_origin, chunk.cols[u], k[u]);
      if constexpr (kValues) span.load(v_origin, chunk.cols[u], v[u]);
    }
    for_real_edges<L>(at.task.count - chunk.first, [&](int u) {
      accumulate<T, L, false>(sums, k[u], [](int, int, Acc<T> x) { return x; });
      if constexpr (kValues)
        accumulate<T, L, false>(sums, v[u], [](int, int, Acc<T> x) { return x; });
    });
  });
  if (at.stores && at.task.slot < 0) span.store(p.out, at.row, sums, Acc<T>{1});
}

template <class T>
void gather_ceiling_cuda(const GatherCeiling<T>& p, CudaStream stream) {
  if (p.graph.num_rows == 0 || p.row_elements == 0) return;
  check_graph(p.graph, p.schedule);
  constexpr int64_t kAnyDim = std::numeric_limits<int32_t>::max();
  check_rows("k", p.k, 1, p.row_elements, sizeof(T), kAnyDim);
  check_rows("v", p.v, 1, p.row_elements, sizeof(T), kAnyDim);
  check_rows("out", p.out, 1, p.row_elements, sizeof(T), kAnyDim);
  const int64_t vecs = p.row_elements / kVec<T>;
  const Groups groups = make_groups<CeilingLanes>(p.schedule, vecs);
  const RowShape shape = make_shape<T>(vecs, kVec<T>);
  if (p.v != nullptr) {
    gather_ceiling_kernel<T, true><<<groups.blocks, kThreads, 0, stream>>>(p, groups, shape);
  } else {
    gather_ceiling_kernel<T, false><<<groups.blocks, kThreads, 0, stream>>>(p, groups, shape);
  }
  launch_check("gather_ceiling");
}

template void gather_ceiling_cuda<float>(const GatherCeiling<float>&, CudaStream);
template void gather_ceiling_cuda<double>(const GatherCeiling<double>&, CudaStream);
template void gather_ceiling_cuda<bfloat16>(const GatherCeiling<bfloat16>&, CudaStream);

}  // namespace sage
