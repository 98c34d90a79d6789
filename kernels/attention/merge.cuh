// Merges the partial results of rows that were cut into parts, in a fixed order.
//
// A block has kMergeWarps warps of 32 elements. Each warp goes through a contiguous range of the
// parts in slot order, then the first warp adds the ranges up in order: a tree that depends on the
// number of parts only.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "kernels/core/softmax_state.h"
#include "kernels/core/vec.cuh"

namespace sage {

inline constexpr int kMergeWarps = 8;
inline constexpr int64_t kMergeBlocks = 2048;

// A slot of AttentionForward::partial: unnormalised sums [H, value_dim], then {max, sum} a head.
template <class A>
struct SoftmaxPartial {
  A *acc, *max, *sum;

  __device__ SoftmaxPartial(A* partial, int64_t slot, int64_t heads, int64_t value_dim)
      : acc(partial + slot * heads * (value_dim + 2)),
        max(acc + heads * value_dim),
        sum(max + heads) {}
};

// A slot of AttentionSourcePass::partial: dk [H, key_dim], then dv [H, value_dim].
template <class A>
struct SourcePartial {
  A *dk, *dv;

  __device__ SourcePartial(A* partial, int64_t slot, int64_t heads, int64_t key_dim,
                           int64_t value_dim)
      : dk(partial + slot * heads * (key_dim + value_dim)), dv(dk + heads * key_dim) {}
};

// Calls f(split, element, first, last) for 32 elements at a time of `width` of each split; the
// warp's range of parts is [first, last). Padding splits are last.
template <class F>
__device__ inline void for_each_split(const ScheduleView& s, int64_t width, F&& f) {
  const int64_t tiles = (width + 31) / 32;
  for (int64_t i = blockIdx.x; i < s.num_splits * tiles; i += gridDim.x) {
    const int64_t at = i / tiles;
    const Split split = ScheduleView::decode_split(s.splits[2 * at], s.splits[2 * at + 1]);
    if (split.parts == 0) return;
    const int32_t each = (split.parts + kMergeWarps - 1) / kMergeWarps;
    const int32_t first = min(static_cast<int32_t>(threadIdx.y) * each, split.parts);
    f(split, (i - at * tiles) * 32 + threadIdx.x, split.first_slot + first,
      split.first_slot + min(first + each, split.parts));
  }
}

template <class T>
static __global__ void __launch_bounds__(32 * kMergeWarps)
    merge_forward_kernel(const AttentionForward<T> p) {
  using A = Acc<T>;
  __shared__ A maxes[kMergeWarps][32], sums[kMergeWarps][32], accs[kMergeWarps][32];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const int64_t width = p.heads * p.value_dim;
  for_each_split(p.schedule, width, [&](Split split, int64_t element, int32_t first, int32_t last) {
    const bool in_row = element < width;
    const int64_t head = element / p.value_dim;
    SoftmaxState<A> state;
    A acc = 0;
    if (in_row) {
#pragma unroll 4
      for (int32_t slot = first; slot < last; ++slot) {
        const SoftmaxPartial<A> part(p.partial, slot, p.heads, p.value_dim);
        const auto by = state.merge({part.max[head], part.sum[head]});
        acc = acc * by.self + part.acc[element] * by.other;
      }
    }
    maxes[y][x] = state.max, sums[y][x] = state.sum, accs[y][x] = acc;
    __syncthreads();
    if (y == 0 && in_row) {
      for (int w = 1; w < kMergeWarps; ++w) {
        const auto by = state.merge({maxes[w][x], sums[w][x]});
        acc = acc * by.self + accs[w][x] * by.other;
      }
      const A factor = state.sum == 0 ? A{0} : 1 / state.sum;
      p.out[int64_t{split.row} * width + element] = round_to<T>(acc * factor);
      if (element == head * p.value_dim) {
        p.lse[int64_t{split.row} * p.heads + head] = state.log_sum_exp();
      }
    }
    __syncthreads();
  });
}

template <class T>
static __global__ void __launch_bounds__(32 * kMergeWarps)
    merge_source_kernel(const AttentionSourcePass<T> p) {
  using A = Acc<T>;
  __shared__ A sums[kMergeWarps][32];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const int64_t keys = p.heads * p.key_dim, values = p.heads * p.value_dim, width = keys + values;
  for_each_split(p.schedule, width, [&](Split split, int64_t element, int32_t first, int32_t last) {
    A sum = 0;
    if (element < width) {
#pragma unroll 4
      for (int32_t slot = first; slot < last; ++slot) sum += p.partial[slot * width + element];
    }
    sums[y][x] = sum;
    __syncthreads();
    if (y == 0 && element < width) {
      for (int w = 1; w < kMergeWarps; ++w) sum += sums[w][x];
      T* out = element < keys ? p.dk + split.row * keys + element
                              : p.dv + split.row * values + (element - keys);
      *out = round_to<T>(sum);
    }
    __syncthreads();
  });
}

inline unsigned merge_blocks(const ScheduleView& s, int64_t width) {
  return blocks_for(s.num_splits * ((width + 31) / 32), 1, kMergeBlocks);
}

template <class T>
void merge_forward(const AttentionForward<T>& p, CudaStream stream) {
  const unsigned blocks = merge_blocks(p.schedule, p.heads * p.value_dim);
  merge_forward_kernel<T><<<blocks, dim3(32, kMergeWarps), 0, stream>>>(p);
  launch_check("attention_forward merge");
}

template <class T>
void merge_source(const AttentionSourcePass<T>& p, CudaStream stream) {
  const unsigned blocks = merge_blocks(p.schedule, p.heads * (p.key_dim + p.value_dim));
  merge_source_kernel<T><<<blocks, dim3(32, kMergeWarps), 0, stream>>>(p);
  launch_check("attention_source_pass merge");
}

}  // namespace sage
