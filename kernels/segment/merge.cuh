// Adds up the partial sums of split rows, in slot order, so that results repeat bit for bit.
#pragma once

#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "kernels/segment/task_group.cuh"

namespace sage::segment {

inline constexpr int kMergeThreads = 128;
inline constexpr int64_t kMergeBlocks = 8192;  // enough to fill any GPU

// One block a split in x (padding comes last, so that the first of it ends the loop), one thread an
// element in y.
inline dim3 merge_grid(const ScheduleView& schedule, int64_t row_elements) {
  return dim3(blocks_for(schedule.num_splits, 1, kMergeBlocks),
              blocks_for(row_elements, kMergeThreads, 65535));
}

// Calls f(split, element) for every element of every split row.
template <class F>
__device__ void for_each_split(const ScheduleView& schedule, int64_t row_elements, F&& f) {
  for (int64_t s = blockIdx.x; s < schedule.num_splits; s += gridDim.x) {
    const Split split =
        ScheduleView::decode_split(schedule.splits[2 * s], schedule.splits[2 * s + 1]);
    if (split.parts == 0) break;
    for (int64_t c = int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < row_elements;
         c += int64_t{gridDim.y} * blockDim.x) {
      f(split, c);
    }
  }
}

// partial [slots, row_elements] -> out [rows, row_elements]; divided by the row's degree where
// `mean_indptr` is given.
template <class T>
__global__ void __launch_bounds__(kMergeThreads)
    merge_sums_kernel(ScheduleView schedule, const Acc<T>* __restrict__ partial,
                      int64_t row_elements, const int64_t* mean_indptr, T* out) {
  for_each_split(schedule, row_elements, [&](const Split& split, int64_t c) {
    const Acc<T>* p = partial + split.first_slot * row_elements + c;
    Acc<T> sum = 0;
#pragma unroll 8
    for (int part = 0; part < split.parts; ++part) sum += p[part * row_elements];
    if (mean_indptr != nullptr) {
      sum /= static_cast<Acc<T>>(mean_indptr[split.row + 1] - mean_indptr[split.row]);
    }
    out[split.row * row_elements + c] = round_to<T>(sum);
  });
}

template <class T>
void merge_sums(const ScheduleView& schedule, const Acc<T>* partial, int64_t row_elements,
                const int64_t* mean_indptr, T* out, cudaStream_t stream) {
  if (schedule.num_splits == 0) return;
  merge_sums_kernel<T><<<merge_grid(schedule, row_elements), kMergeThreads, 0, stream>>>(
      schedule, partial, row_elements, mean_indptr, out);
  launch_check("merge_sums_kernel");
}

}  // namespace sage::segment
