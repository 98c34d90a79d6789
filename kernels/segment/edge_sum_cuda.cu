// Sum of per-edge numbers over each row on CUDA: a group of lanes a task, lanes laid out as edges
// times heads.
#include "kernels/segment/aggregate.h"
#include "kernels/segment/merge.cuh"
#include "kernels/segment/task_group.cuh"

namespace sage {
namespace {

using segment::kEdgesInFlight;
using segment::kFullWarp;
using segment::kTaskThreads;

// kHeads: heads side by side, a power of two; blocks of them in y. A group is at least 8 lanes, so
// that a row of one head still reads several edges at a time.
template <class T, int kHeads>
__global__ void __launch_bounds__(kTaskThreads) edge_sum_kernel(const EdgeSum<T> p) {
  using A = Acc<T>;
  constexpr int kLanes = kHeads < 8 ? 8 : kHeads, kEdges = kLanes / kHeads;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kLanes;
  const Task task =
      i < p.schedule.num_tasks
          ? ScheduleView::decode_task(p.schedule.tasks[2 * i], p.schedule.tasks[2 * i + 1])
          : Task{};
  for (int64_t first = int64_t{blockIdx.y} * kHeads; first < p.heads; first += gridDim.y * kHeads) {
    const int64_t head = first + lane % kHeads;
    const bool active = head < p.heads;
    A sum = 0;
    for (int e = lane / kHeads; e < task.count; e += kEdges * kEdgesInFlight) {
      A values[kEdgesInFlight];
#pragma unroll
      for (int u = 0; u < kEdgesInFlight; ++u) {
        const int offset = e + u * kEdges;
        const int64_t position = task.begin + offset;
        values[u] = 0;
        if (active && offset < task.count) {
          const int64_t at = p.weight_position
                                 ? clamp_id(p.weight_position[position], p.graph.num_edges)
                                 : position;
          values[u] = segment::load_one(p.weight + at * p.heads + head);
        }
      }
#pragma unroll
      for (int u = 0; u < kEdgesInFlight; ++u) sum += values[u];
    }
    __syncwarp();
#pragma unroll
    for (int other = kHeads; other < kLanes; other *= 2) {
      sum += __shfl_xor_sync(kFullWarp, sum, other);
    }
    if (lane >= kHeads || !active || task.row < 0) continue;
    if (task.slot < 0) {
      p.out[task.row * p.heads + head] = round_to<T>(sum);
    } else {
      p.partial[task.slot * p.heads + head] = sum;
    }
  }
}

}  // namespace

template <class T>
void edge_sum_cuda(const EdgeSum<T>& p, CudaStream stream) {
  if (p.graph.num_rows == 0 || p.heads == 0) return;
  segment::check_graph(p.graph, p.schedule);
  EdgeSum<T> settled = p;
  if (!settled.weight_position) settled.weight_position = p.graph.edge_ids;
  int heads = 1;
  while (heads < p.heads && heads < 32) heads *= 2;
  dispatch(OneOf<1, 2, 4, 8, 16, 32>{}, heads, "heads", [&](auto side_by_side) {
    constexpr int kHeads = side_by_side();
    const dim3 grid(blocks_for(p.schedule.num_tasks, kTaskThreads / (kHeads < 8 ? 8 : kHeads)),
                    blocks_for(p.heads, kHeads, 65535));
    edge_sum_kernel<T, kHeads><<<grid, kTaskThreads, 0, stream>>>(settled);
    launch_check("edge_sum_kernel");
  });
  segment::merge_sums<T>(p.schedule, p.partial, p.heads, nullptr, p.out, stream);
}

template void edge_sum_cuda(const EdgeSum<float>&, CudaStream);
template void edge_sum_cuda(const EdgeSum<double>&, CudaStream);
template void edge_sum_cuda(const EdgeSum<bfloat16>&, CudaStream);

}  // namespace sage
