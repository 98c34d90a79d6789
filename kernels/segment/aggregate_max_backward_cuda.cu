// Backward of the max aggregation on CUDA, over the transpose: a source collects from the
// destinations whose maximum it won, so that nothing is scattered and no atomics are needed.
#include "kernels/segment/aggregate.h"
#include "kernels/segment/merge.cuh"
#include "kernels/segment/task_group.cuh"

namespace sage {
namespace {

using segment::EdgeStream;
using segment::kEdgesInFlight;
using segment::kFullWarp;
using segment::kTaskThreads;
using segment::load_one;
using segment::RowVector;
using segment::TaskGroup;

// Two ids of `arg` that a 16-byte load brought.
__device__ inline longlong2 as_ids(uint4 a) {
  return {static_cast<int64_t>(a.x | static_cast<uint64_t>(a.y) << 32),
          static_cast<int64_t>(a.z | static_cast<uint64_t>(a.w) << 32)};
}

// The gradients of a lane's elements that edge `id` won; 0 for the others.
template <class T>
struct WonGrad {
  static constexpr int kV = kVec<T>;
  uint4 grad;
  uint4 ids[kV / 2];

  __device__ void load(const T* grad_at, const int64_t* arg_at) {
    grad = load16(grad_at);
#pragma unroll
    for (int i = 0; i < kV / 2; ++i) ids[i] = load16(arg_at + 2 * i);
  }
  __device__ void select(int64_t id, Acc<T> (&x)[kV]) const {
    unpack<T>(grad, x);
#pragma unroll
    for (int i = 0; i < kV / 2; ++i) {
      const longlong2 winners = as_ids(ids[i]);
      if (winners.x != id) x[2 * i] = 0;
      if (winners.y != id) x[2 * i + 1] = 0;
    }
  }
};

template <class T, int kLanes>
__global__ void __launch_bounds__(kTaskThreads)
    max_backward_kernel(const AggregateMaxBackward<T> p) {
  using A = Acc<T>;
  constexpr int kV = kVec<T>, kPair = 2;  // edges in registers at a time: arg is wide
  const TaskGroup<kLanes> group(p.schedule, p.graph);
  const RowVector<T, kLanes> mine(group.lane, p.heads, p.dim);
  const int64_t row_elements = p.heads * p.dim;
  const T* weight = p.weight != nullptr && p.weight_heads > 1 ? p.weight + mine.head : p.weight;

  A sum[kV] = {};
  EdgeStream<kLanes> edges(group, p.graph, p.graph.edge_ids);
  for (int it = 0, offset = 0; it < group.iterations; ++it, offset += kEdgesInFlight) {
#pragma unroll
    for (int u = 0; u < kEdgesInFlight; u += kPair) {
      WonGrad<T> won[kPair];
      int64_t ids[kPair];
      A weights[kPair];
#pragma unroll
      for (int k = 0; k < kPair; ++k) {
        const int64_t at = int64_t{edges.column(u + k)} * row_elements + mine.element;
        won[k].load(p.grad + at, p.arg + at);
        ids[k] = edges.name(offset, u + k);
        weights[k] = weight != nullptr ? load_one(weight + ids[k] * p.weight_heads) : A{1};
      }
#pragma unroll
      for (int k = 0; k < kPair; ++k) {
        if (!group.has_edge(offset + u + k)) continue;
        A x[kV];
        won[k].select(ids[k], x);
#pragma unroll
        for (int i = 0; i < kV; ++i) sum[i] += weights[k] * x[i];
      }
    }
    edges.fetch(offset + kEdgesInFlight);
  }

  const Task& task = group.task;
  if (task.row < 0 || !mine.active) return;
  const int64_t at = (task.slot < 0 ? task.row : task.slot) * row_elements + mine.element;
  if (task.slot < 0) {
    store16(p.dx + at, sum, A{1});
  } else {
#pragma unroll
    for (int i = 0; i < kV; ++i) p.partial[at + i] = sum[i];
  }
}

// dweight of every edge of a task, head blockIdx.y: the group's lanes share the head's elements.
template <class T, int kLanes>
__global__ void __launch_bounds__(kTaskThreads)
    max_backward_weight_kernel(const AggregateMaxBackward<T> p) {
  using A = Acc<T>;
  constexpr int kV = kVec<T>;
  const TaskGroup<kLanes> group(p.schedule, p.graph);
  const int64_t row_elements = p.heads * p.dim, row = max(group.task.row, 0);
  EdgeStream<kLanes> edges(group, p.graph, p.graph.edge_ids);
  for (int it = 0, offset = 0; it < group.iterations; ++it, offset += kEdgesInFlight) {
#pragma unroll 1
    for (int u = 0; u < kEdgesInFlight; ++u) {
      const int64_t id = edges.name(offset, u), column = edges.column(u);
      for (int64_t head = blockIdx.y; head < p.heads; head += gridDim.y) {
        A sum = 0;
        for (int64_t c = group.lane * kV; c < p.dim; c += kLanes * kV) {
          const int64_t at = head * p.dim + c;
          WonGrad<T> won;
          won.load(p.grad + column * row_elements + at, p.arg + column * row_elements + at);
          A grad[kV], x[kV];
          won.select(id, grad);
          unpack<T>(load16(p.x + row * row_elements + at), x);
#pragma unroll
          for (int i = 0; i < kV; ++i) sum += grad[i] * x[i];
        }
#pragma unroll
        for (int other = kLanes / 2; other > 0; other /= 2) {
          sum += __shfl_xor_sync(kFullWarp, sum, other);
        }
        if (group.lane == 0 && group.has_edge(offset + u)) {
          p.dweight[id * p.heads + head] = round_to<T>(sum);
        }
      }
    }
    edges.fetch(offset + kEdgesInFlight);
  }
}

}  // namespace

template <class T>
void aggregate_max_backward_cuda(const AggregateMaxBackward<T>& p, CudaStream stream) {
  const int64_t row_elements = p.heads * p.dim;
  if (p.graph.num_rows == 0 || row_elements == 0) return;
  segment::check_graph(p.graph, p.schedule);
  segment::check_row<T>(p.grad, p.dim, "grad");
  segment::check_row<T>(p.dx, p.dim, "dx");
  segment::check_row<T>(p.arg, p.dim, "arg");
  const int64_t vectors = row_elements / kVec<T>;
  segment::dispatch_lanes(vectors, [&](auto lanes) {
    max_backward_kernel<T, lanes()>
        <<<segment::task_grid<lanes()>(p.schedule, vectors), kTaskThreads, 0, stream>>>(p);
    launch_check("max_backward_kernel");
  });
  segment::merge_sums<T>(p.schedule, p.partial, row_elements, nullptr, p.dx, stream);
  if (p.dweight == nullptr) return;
  segment::check_row<T>(p.x, p.dim, "x");
  segment::dispatch_lanes(p.dim / kVec<T>, [&](auto lanes) {
    const dim3 grid(blocks_for(p.schedule.num_tasks, kTaskThreads / lanes()),
                    blocks_for(p.heads, 1, 65535));
    max_backward_weight_kernel<T, lanes()><<<grid, kTaskThreads, 0, stream>>>(p);
    launch_check("max_backward_weight_kernel");
  });
}

template void aggregate_max_backward_cuda(const AggregateMaxBackward<float>&, CudaStream);
template void aggregate_max_backward_cuda(const AggregateMaxBackward<double>&, CudaStream);
template void aggregate_max_backward_cuda(const AggregateMaxBackward<bfloat16>&, CudaStream);

}  // namespace sage
