// The schedule on the GPU: one thread a task, then a stable radix sort by descending edge count.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "sampling/graph/device_scan.cuh"
#include "sampling/graph/schedule.h"
#include "sampling/graph/search.cuh"

namespace sage {
namespace {

constexpr int kThreads = 256;

struct Shape {
  const int64_t* indptr;
  int64_t num_rows, num_edges, chunk, num_tasks, num_splits;

  Shape(const int64_t* p, int64_t rows, int64_t edges)
      : indptr(p),
        num_rows(rows),
        num_edges(edges),
        chunk(schedule_chunk(rows, edges)),
        num_tasks(schedule_num_tasks(rows, edges)),
        num_splits(schedule_num_splits(rows, edges)) {}

  __device__ ScheduledRow row(int64_t i) const { return {indptr, i, num_edges, chunk}; }
};

// What split rows bring, summed over rows in one int64: parts beyond the first in the low half, the
// number of split rows in the high half.
struct Extra {
  int64_t bits;

  __device__ int64_t parts() const { return bits & 0xffffffff; }
  __device__ int64_t splits() const { return bits >> 32; }
  __device__ int64_t slots() const { return parts() + splits(); }
};
struct RowExtra {
  Shape shape;
  __device__ int64_t operator()(int64_t row) const {
    if (row == shape.num_rows) return 0;
    const int64_t parts = shape.row(row).parts;
    return parts > 1 ? (int64_t{1} << 32) | (parts - 1) : 0;
  }
};
using ExtraIterator =
    thrust::transform_iterator<RowExtra, thrust::counting_iterator<int64_t>, int64_t, int64_t>;

struct ScheduleWork {
  int64_t* extra_before;  // [num_rows + 1]
  DeviceScan<int64_t, ExtraIterator> scan;
  DeviceSort sort;  // of tasks

  ScheduleWork(Workspace& workspace, const Shape& shape)
      : extra_before(workspace.take_array<int64_t>(shape.num_rows + 1)),
        scan(workspace, ExtraIterator(thrust::counting_iterator<int64_t>(0), RowExtra{shape}),
             extra_before, shape.num_rows + 1),
        sort(workspace, shape.num_tasks, shape.chunk + 2) {}
};

// Task t in row order. row == num_rows: padding.
struct TaskOfRow {
  int64_t row, part;

  __device__ TaskOfRow(const Shape& shape, const int64_t* extra_before, int64_t t) {
    row = first_where(shape.num_rows,
                      [&](int64_t i) { return i + 1 + Extra{extra_before[i + 1]}.parts() > t; });
    part = t - row - Extra{extra_before[row]}.parts();
  }
};

// Keys 0 .. chunk: descending edge count; chunk + 1: padding.
__global__ void schedule_keys_kernel(Shape shape, const int64_t* extra_before,
                                     MutableIndexSpan keys, MutableIndexSpan values) {
  for (const int64_t t : grid_stride(shape.num_tasks)) {
    const TaskOfRow task(shape, extra_before, t);
    int64_t key = shape.chunk + 1;
    if (task.row < shape.num_rows) {
      key = shape.chunk - shape.row(task.row).count(task.part, shape.chunk);
    }
    store_index(keys, t, key);
    store_index(values, t, t);
  }
}

__global__ void schedule_tasks_kernel(Shape shape, const int64_t* extra_before, IndexSpan order,
                                      int64_t* tasks) {
  for (const int64_t at : grid_stride(shape.num_tasks)) {
    const TaskOfRow task(shape, extra_before, order[at]);
    if (task.row == shape.num_rows) {
      write_task_padding(tasks, at);
      continue;
    }
    const ScheduledRow row = shape.row(task.row);
    const int64_t slot = row.parts > 1 ? Extra{extra_before[task.row]}.slots() + task.part : -1;
    write_task(tasks, at, row.begin + task.part * shape.chunk, row.count(task.part, shape.chunk),
               task.row, slot);
  }
}

__global__ void schedule_splits_kernel(Shape shape, const int64_t* extra_before, int64_t* splits) {
  for (const int64_t i : grid_stride(shape.num_rows)) {
    const Extra before{extra_before[i]};
    const ScheduledRow row = shape.row(i);
    if (row.parts > 1 && before.splits() < shape.num_splits) {
      write_split(splits, before.splits(), i, before.slots(), row.parts);
    }
  }
  const int64_t used = Extra{extra_before[shape.num_rows]}.splits();
  for (const int64_t i : grid_stride(shape.num_splits)) {
    if (i >= used) write_split_padding(splits, i);
  }
}

}  // namespace

size_t csr_schedule_workspace(int64_t num_rows, int64_t num_edges) {
  check_schedule_size(num_rows, num_edges);
  Workspace workspace;
  ScheduleWork(workspace, Shape(nullptr, num_rows, num_edges));
  return workspace.bytes;
}

void csr_schedule_cuda(const int64_t* indptr, int64_t num_rows, int64_t num_edges, int64_t* tasks,
                       int64_t* splits, void* workspace, CudaStream stream) {
  check_schedule_size(num_rows, num_edges);
  const Shape shape(indptr, num_rows, num_edges);
  Workspace w{workspace};
  ScheduleWork work(w, shape);
  const unsigned task_blocks = blocks_for(shape.num_tasks, kThreads);
  work.scan.run(stream);
  schedule_keys_kernel<<<task_blocks, kThreads, 0, stream>>>(shape, work.extra_before,
                                                             work.sort.keys(), work.sort.values());
  launch_check("schedule_keys_kernel");
  work.sort.run(stream);
  schedule_tasks_kernel<<<task_blocks, kThreads, 0, stream>>>(shape, work.extra_before,
                                                              read_only(work.sort.values()), tasks);
  launch_check("schedule_tasks_kernel");
  schedule_splits_kernel<<<blocks_for(std::max(num_rows, shape.num_splits), kThreads), kThreads, 0,
                           stream>>>(shape, work.extra_before, splits);
  launch_check("schedule_splits_kernel");
}

}  // namespace sage
