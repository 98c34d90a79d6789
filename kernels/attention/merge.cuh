// Merges the partial results of rows that were cut into parts, in a fixed order: a row of few parts
// by one warp for 32 elements at a time, part after part; a row of many by a block, whose warps go
// through contiguous ranges that are then merged in order. The order depends on the number of parts
// only.
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
inline constexpr int32_t kPartsOfWarp = 64;

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

// M::Part is what parts add up to in one element: M::sum(first_slot, last_slot, element) of some,
// M::merge(part, later_part), and M::store(split, element, part). Padding splits are last.
template <class M>
__device__ inline void merge_splits(const ScheduleView& s, int64_t width, const M& m) {
  const int64_t tiles = (width + 31) / 32, items = s.num_splits * tiles;
  const auto split_of = [&](int64_t item) {
    const int64_t at = item / tiles;
    return ScheduleView::decode_split(s.splits[2 * at], s.splits[2 * at + 1]);
  };
  const auto element_of = [&](int64_t item) { return item % tiles * 32 + threadIdx.x; };
  const int64_t warps = int64_t{gridDim.x} * kMergeWarps;
  for (int64_t i = int64_t{blockIdx.x} * kMergeWarps + threadIdx.y; i < items; i += warps) {
    const Split split = split_of(i);
    if (split.parts == 0) break;
    const int64_t element = element_of(i);
    if (split.parts > kPartsOfWarp || element >= width) continue;
    m.store(split, element, m.sum(split.first_slot, split.first_slot + split.parts, element));
  }

  __shared__ typename M::Part parts[kMergeWarps][32];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  for (int64_t i = blockIdx.x; i < items; i += gridDim.x) {
    const Split split = split_of(i);
    if (split.parts == 0) break;
    if (split.parts <= kPartsOfWarp) continue;
    const int64_t element = element_of(i);
    const int32_t each = (split.parts + kMergeWarps - 1) / kMergeWarps;
    const int32_t first = min(static_cast<int32_t>(y) * each, split.parts);
    const int32_t last = min(first + each, split.parts);
    if (element < width) {
      parts[y][x] = m.sum(split.first_slot + first, split.first_slot + last, element);
    }
    __syncthreads();
    if (y == 0 && element < width) {
      for (int w = 1; w < kMergeWarps; ++w) m.merge(parts[0][x], parts[w][x]);
      m.store(split, element, parts[0][x]);
    }
    __syncthreads();
  }
}

template <class T>
struct MergeForward {
  using A = Acc<T>;
  struct Part {
    A max, sum, acc;
  };
  const AttentionForward<T>& p;

  __device__ void merge(Part& part, const Part& later) const {
    SoftmaxState<A> state{part.max, part.sum};
    const auto by = state.merge({later.max, later.sum});
    part = {state.max, state.sum, part.acc * by.self + later.acc * by.other};
  }
  __device__ Part sum(int32_t first, int32_t last, int64_t element) const {
    const SoftmaxState<A> none;
    Part total{none.max, none.sum, 0};
    const int64_t head = element / p.value_dim;
#pragma unroll 4
    for (int32_t slot = first; slot < last; ++slot) {
      const SoftmaxPartial<A> part(p.partial, slot, p.heads, p.value_dim);
      merge(total, {part.max[head], part.sum[head], part.acc[element]});
    }
    return total;
  }
  __device__ void store(const Split& split, int64_t element, const Part& part) const {
    const A factor = part.sum == 0 ? A{0} : 1 / part.sum;
    p.out[split.row * p.heads * p.value_dim + element] = round_to<T>(part.acc * factor);
    if (element % p.value_dim == 0) {
      const SoftmaxState<A> state{part.max, part.sum};
      p.lse[split.row * p.heads + element / p.value_dim] = state.log_sum_exp();
    }
  }
};

template <class T>
struct MergeSource {
  using Part = Acc<T>;
  const AttentionSourcePass<T>& p;
  int64_t keys, values;

  __device__ explicit MergeSource(const AttentionSourcePass<T>& pass)
      : p(pass), keys(pass.heads * pass.key_dim), values(pass.heads * pass.value_dim) {}
  __device__ void merge(Part& part, const Part& later) const { part += later; }
  __device__ Part sum(int32_t first, int32_t last, int64_t element) const {
    Part total = 0;
#pragma unroll 4
    for (int32_t slot = first; slot < last; ++slot) {
      total += p.partial[slot * (keys + values) + element];
    }
    return total;
  }
  __device__ void store(const Split& split, int64_t element, const Part& part) const {
    T* const out = element < keys ? p.dk + split.row * keys + element
                                  : p.dv + split.row * values + (element - keys);
    *out = round_to<T>(part);
  }
};

template <class T>
static __global__ void __launch_bounds__(32 * kMergeWarps)
    merge_forward_kernel(const AttentionForward<T> p) {
  merge_splits(p.schedule, p.heads * p.value_dim, MergeForward<T>{p});
}

template <class T>
static __global__ void __launch_bounds__(32 * kMergeWarps)
    merge_source_kernel(const AttentionSourcePass<T> p) {
  merge_splits(p.schedule, p.heads * (p.key_dim + p.value_dim), MergeSource<T>(p));
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
