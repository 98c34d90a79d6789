// Gather and reduce on CUDA: a group of lanes a row, 16 bytes a lane, four edges in flight.
#include <limits>
#include <type_traits>

#include "kernels/segment/aggregate.h"
#include "kernels/segment/merge.cuh"
#include "kernels/segment/task_group.cuh"

namespace sage {
namespace {

using segment::EdgeStream;
using segment::kEdgesInFlight;
using segment::kTaskThreads;
using segment::load_one;
using segment::RowVector;
using segment::TaskGroup;

template <class A>
struct SumItem {
  A value = 0;
  __device__ void push(A x, int) { value += x; }
};

// The first winner in CSR order keeps its place; NaN beats everything, as in torch.amax.
template <class A>
struct MaxItem {
  static constexpr A kLowest = -std::numeric_limits<A>::infinity();
  A value = kLowest;
  int edge = -1;  // offset in the task; -1: none yet
  __device__ void push(A x, int offset) {
    if (edge < 0 || (value == value && !(x <= value))) value = x, edge = offset;
  }
};

// kMax of split rows: the ids stand behind the values, [slots, row_elements] each.
template <class T>
__device__ int64_t* partial_ids(const Aggregate<T>& p, int64_t row_elements) {
  return reinterpret_cast<int64_t*>(p.partial + p.schedule.num_slots() * row_elements);
}

// p.weight_position has been settled: where the weight is, null for the position itself.
template <class T, int kLanes, bool kIsMax, bool kWeighted>
__global__ void __launch_bounds__(kTaskThreads) aggregate_kernel(const Aggregate<T> p) {
  using A = Acc<T>;
  using Item = std::conditional_t<kIsMax, MaxItem<A>, SumItem<A>>;
  constexpr int kV = kVec<T>;
  const TaskGroup<kLanes> group(p.schedule, p.graph);
  const RowVector<T, kLanes> mine(group.lane, p.heads, p.dim);
  const int64_t row_elements = p.heads * p.dim;
  const uint32_t row_bytes = static_cast<uint32_t>(row_elements * sizeof(T));
  const char* x = reinterpret_cast<const char*>(p.x + mine.element);
  const T* weight = kWeighted ? p.weight + (p.weight_heads == 1 ? 0 : mine.head) : nullptr;

  Item items[kV];
  EdgeStream<kLanes> edges(group, p.graph, kWeighted ? p.weight_position : IndexSpan{});
  for (int it = 0, offset = 0; it < group.iterations; ++it, offset += kEdgesInFlight) {
    uint4 rows[kEdgesInFlight];
    A weights[kEdgesInFlight];
#pragma unroll
    for (int u = 0; u < kEdgesInFlight; ++u) {
      rows[u] = load16(x + static_cast<uint64_t>(edges.column(u)) * row_bytes);
      if constexpr (kWeighted) {
        weights[u] = load_one(weight + edges.name(offset, u) * p.weight_heads);
      }
    }
    edges.fetch(offset + kEdgesInFlight);
#pragma unroll
    for (int u = 0; u < kEdgesInFlight; ++u) {
      if (!group.has_edge(offset + u)) continue;
      A values[kV];
      unpack<T>(rows[u], values);
#pragma unroll
      for (int i = 0; i < kV; ++i) {
        items[i].push(kWeighted ? weights[u] * values[i] : values[i], offset + u);
      }
    }
  }

  const Task& task = group.task;
  if (task.row < 0 || !mine.active) return;
  A values[kV];
#pragma unroll
  for (int i = 0; i < kV; ++i) values[i] = items[i].value;
  const int64_t at = (task.slot < 0 ? task.row : task.slot) * row_elements + mine.element;
  if constexpr (kIsMax) {
    int64_t* ids = (task.slot < 0 ? p.arg : partial_ids(p, row_elements)) + at;
#pragma unroll
    for (int i = 0; i < kV; ++i) {
      if (items[i].edge < 0) values[i] = 0;  // a row without edges
      ids[i] = items[i].edge < 0 ? -1 : p.graph.edge_id(task.begin + items[i].edge);
    }
  }
  if (task.slot < 0) {
    const bool mean = p.reduce == Reduce::kMean && task.count > 0;
    store16(p.out + at, values, mean ? A{1} / static_cast<A>(task.count) : A{1});
  } else {
#pragma unroll
    for (int i = 0; i < kV; ++i) p.partial[at + i] = values[i];
  }
}

template <class T>
__global__ void __launch_bounds__(segment::kMergeThreads) merge_max_kernel(const Aggregate<T> p) {
  const int64_t row_elements = p.heads * p.dim;
  segment::for_each_split(p.schedule, row_elements, [&](const Split& split, int64_t c) {
    const int64_t first = split.first_slot * row_elements + c;
    MaxItem<Acc<T>> best;
#pragma unroll 8
    for (int part = 0; part < split.parts; ++part) {
      best.push(p.partial[first + part * row_elements], part);
    }
    const int64_t at = split.row * row_elements + c;
    p.out[at] = round_to<T>(best.value);
    p.arg[at] = partial_ids(p, row_elements)[first + best.edge * row_elements];
  });
}

template <class T, int kLanes>
void launch(const Aggregate<T>& p, dim3 grid, cudaStream_t stream) {
  const bool weighted = p.weight != nullptr;
  if (p.reduce == Reduce::kMax) {
    if (weighted) {
      aggregate_kernel<T, kLanes, true, true><<<grid, kTaskThreads, 0, stream>>>(p);
    } else {
      aggregate_kernel<T, kLanes, true, false><<<grid, kTaskThreads, 0, stream>>>(p);
    }
  } else if (weighted) {
    aggregate_kernel<T, kLanes, false, true><<<grid, kTaskThreads, 0, stream>>>(p);
  } else {
    aggregate_kernel<T, kLanes, false, false><<<grid, kTaskThreads, 0, stream>>>(p);
  }
  launch_check("aggregate_kernel");
}

}  // namespace

template <class T>
void aggregate_cuda(const Aggregate<T>& p, CudaStream stream) {
  const int64_t row_elements = p.heads * p.dim;
  if (p.graph.num_rows == 0 || row_elements == 0) return;
  segment::check_graph(p.graph, p.schedule);
  segment::check_row<T>(p.x, p.dim, "x");
  segment::check_row<T>(p.out, p.dim, "out");
  check(p.reduce != Reduce::kMin, [] { return "aggregate supports sum, mean and max, not min"; });
  Aggregate<T> settled = p;
  if (!settled.weight_position) settled.weight_position = p.graph.edge_ids;
  const int64_t vectors = row_elements / kVec<T>;
  segment::dispatch_lanes(vectors, [&](auto lanes) {
    launch<T, lanes()>(settled, segment::task_grid<lanes()>(p.schedule, vectors), stream);
  });
  if (p.reduce != Reduce::kMax) {
    const int64_t* mean_indptr = p.reduce == Reduce::kMean ? p.graph.indptr : nullptr;
    segment::merge_sums(p.schedule, p.partial, row_elements, mean_indptr, p.out, stream);
  } else if (p.schedule.num_splits > 0) {
    merge_max_kernel<T>
        <<<segment::merge_grid(p.schedule, row_elements), segment::kMergeThreads, 0, stream>>>(p);
    launch_check("merge_max_kernel");
  }
}

template void aggregate_cuda(const Aggregate<float>&, CudaStream);
template void aggregate_cuda(const Aggregate<double>&, CudaStream);
template void aggregate_cuda(const Aggregate<bfloat16>&, CudaStream);

}  // namespace sage
