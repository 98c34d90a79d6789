// How a warp works on a schedule: groups of kLanes lanes take a task each, several edges in flight.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "kernels/core/check.h"
#include "kernels/core/csr.h"
#include "kernels/core/dispatch.h"
#include "kernels/core/dtype.h"
#include "kernels/core/launch.cuh"
#include "kernels/core/vec.cuh"

namespace sage::segment {

inline constexpr int kTaskThreads = 128;            // of a block
inline constexpr int kEdgesInFlight = 4;            // of a group
inline constexpr unsigned kFullWarp = 0xffffffffu;  // every shuffle here is by the whole warp
static_assert(kEdgesInFlight <= 4, "the smallest group, 4 lanes, reads one index a lane");

// The task of this thread's group. Groups of one warp run the same number of iterations, so that
// all lanes take part in every shuffle; a group that is done looks at its last edge again.
template <int kLanes>
struct TaskGroup {
  static_assert(kLanes >= kEdgesInFlight && kLanes <= 32);
  Task task;
  int lane;        // in the group
  int iterations;  // of kEdgesInFlight edges, the most of any group of the warp

  __device__ TaskGroup(const ScheduleView& schedule, const CsrView& graph)
      : lane(static_cast<int>(threadIdx.x) % kLanes) {
    const int64_t i = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / kLanes;
    if (i < schedule.num_tasks) {
      const longlong2 packed = __ldg(reinterpret_cast<const longlong2*>(schedule.tasks) + i);
      task = ScheduleView::decode_task(packed.x, packed.y);
    }
    if (graph.num_cols == 0) task.count = 0;
    if (task.count == 0) task.begin = 0;  // a readable place: some group of the warp has edges
    iterations = (task.count + kEdgesInFlight - 1) / kEdgesInFlight;
#pragma unroll
    for (int other = kLanes; other < 32; other *= 2) {
      iterations = max(iterations, __shfl_xor_sync(kFullWarp, iterations, other));
    }
  }
  __device__ bool has_edge(int offset) const { return offset < task.count; }
};

// The next kEdgesInFlight edges of a task, for every lane: their columns and their names (what
// `names` maps the position to, or the position itself). fetch() reads ahead, one load a lane;
// column() and name() hand out by shuffle. Column numbers fit 32 bits, so that the low half of an
// 8-byte index is enough. What is out of range becomes the last column or name.
template <int kLanes>
class EdgeStream {
 public:
  __device__ EdgeStream(const TaskGroup<kLanes>& group, const CsrView& graph, IndexSpan names)
      : columns_(static_cast<const uint32_t*>(graph.indices.data)),
        shift_(graph.indices.bytes == 8 ? 1 : 0),
        last_column_(static_cast<uint32_t>(graph.num_cols - 1)),
        names_(names),
        num_names_(graph.num_edges),
        begin_(group.task.begin),
        last_(max(group.task.count - 1, 0)),
        mine_(group.lane % kEdgesInFlight),
        first_lane_(static_cast<int>(threadIdx.x) % 32 - mine_) {
    if (group.iterations > 0) fetch(0);
  }
  __device__ void fetch(int offset) {
    const int64_t position = begin_ + min(offset + mine_, last_);
    column_ = min(__ldg(columns_ + (position << shift_)), last_column_);
    if (names_) name_ = clamp_id(names_[position], num_names_);
  }
  __device__ uint32_t column(int edge) const {
    return __shfl_sync(kFullWarp, column_, first_lane_ | edge);
  }
  // Of edge `edge` of the iteration at `offset`.
  __device__ int64_t name(int offset, int edge) const {
    return names_ ? __shfl_sync(kFullWarp, name_, first_lane_ | edge)
                  : begin_ + min(offset + edge, last_);
  }

 private:
  const uint32_t* columns_;
  int shift_;
  uint32_t last_column_;
  IndexSpan names_;
  int64_t num_names_;
  int64_t begin_;
  int last_, mine_, first_lane_;
  uint32_t column_ = 0;
  int64_t name_ = 0;
};

// The 16-byte vector of a row that this lane owns. Lanes past the row's end repeat its last vector
// and store nothing.
template <class T, int kLanes>
struct RowVector {
  bool active;
  int64_t element;  // first of kVec<T> in the row
  int64_t head;

  __device__ RowVector(int lane, int64_t heads, int64_t dim) {
    const int64_t vectors = heads * dim / kVec<T>, vector = int64_t{blockIdx.y} * kLanes + lane;
    active = vector < vectors;
    element = min(vector, vectors - 1) * kVec<T>;
    head = heads == 1 ? 0 : element / dim;
  }
};

template <class T>
__device__ Acc<T> load_one(const T* p) {
  return static_cast<Acc<T>>(__ldg(p));
}
template <>
__device__ inline float load_one<bfloat16>(const bfloat16* p) {
  return __uint_as_float(static_cast<uint32_t>(__ldg(reinterpret_cast<const unsigned short*>(p)))
                         << 16);
}

// Calls f(Const<lanes>{}) with the lanes that a row of `vectors` 16-byte vectors keeps busy.
template <class F>
void dispatch_lanes(int64_t vectors, F&& f) {
  const int lanes = vectors <= 4 ? 4 : vectors <= 8 ? 8 : vectors <= 16 ? 16 : 32;
  dispatch(OneOf<4, 8, 16, 32>{}, lanes, "lanes", f);
}

// One group a task in x; blocks of a row's vectors in y.
template <int kLanes>
dim3 task_grid(const ScheduleView& schedule, int64_t vectors) {
  const int64_t blocks = (vectors + kLanes - 1) / kLanes;
  check(blocks <= 65535, [&] {
    return "heads * dim is too large for CUDA: a row is " + std::to_string(vectors * 16) +
           " bytes, at most " + std::to_string(int64_t{65535} * kLanes * 16) + " are supported";
  });
  return dim3(blocks_for(schedule.num_tasks, kTaskThreads / kLanes), static_cast<unsigned>(blocks));
}

// Rows and columns are 32-bit in registers and in the packed tasks.
inline void check_graph(const CsrView& graph, const ScheduleView& schedule) {
  check(graph.num_rows < (int64_t{1} << 31) && graph.num_cols < (int64_t{1} << 32), [&] {
    return "CUDA kernels take fewer than 2^31 rows and 2^32 columns, got " +
           std::to_string(graph.num_rows) + " x " + std::to_string(graph.num_cols);
  });
  check(schedule.num_tasks > 0, [&] {
    return "the schedule is empty, but there are " + std::to_string(graph.num_rows) +
           " rows: build it with csr_schedule";
  });
}

template <class T>
void check_row(const void* pointer, int64_t dim, const char* name) {
  check(reinterpret_cast<uintptr_t>(pointer) % 16 == 0 && dim % kVec<T> == 0, [&] {
    return std::string(name) + " must be 16-byte aligned with a dim that is a multiple of " +
           std::to_string(kVec<T>) + ", got dim " + std::to_string(dim);
  });
}

}  // namespace sage::segment
