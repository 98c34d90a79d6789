// How threads share segments of any length, and the loop that every segment operator runs in.
//
// A team is a set of threads laid out as rows x columns of a segment. Short segments get a part of
// a warp each, long ones a warp, hubs a block of their own. An operator says what one number does:
//   struct Op {
//     struct State;                 what a team reduces: trivially copyable, starts as the identity
//                                   (empty: nothing to reduce), a multiple of 4 bytes, no padding
//     using Item;                   what one element brings
//     Item load(int64_t segment, int64_t row, int64_t column, int64_t at) const;
//     void push(State&, const Item&, int64_t row) const;
//     void merge(State&, const State& other) const;
//     static constexpr bool kEachRow;
//     void finish(const State&, const Item&, int64_t at) const;               kEachRow: every
//     element void finish(const State&, int64_t segment, int64_t column) const;       else: every
//     segment
//   };
// The order of pushes and merges depends on the sizes alone, so that results repeat bit for bit.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "kernels/segment/segment.h"

namespace sage::segment {

inline constexpr int kTeamThreads = 256;     // of a block of small teams
inline constexpr int kHubThreads = 512;      // of a hub's block
inline constexpr int kHubBlocks = 2048;      // enough to fill any GPU
inline constexpr int kRowsInFlight = 4;      // of a thread
inline constexpr int64_t kRowsPerLane = 32;  // of a small team, before a whole warp takes over

// What all segment kernels know about their work. `columns` and `rows` are a small team's layout,
// powers of two with columns * rows <= 32.
struct SegmentShape {
  const int64_t* indptr;
  int64_t num_segments, num_rows, width;
  int columns, rows;

  // First row of segment s, and of the one behind the last; a wrong indptr never leaves the array.
  __device__ int64_t begin(int64_t s) const { return min(max(indptr[s], int64_t{0}), num_rows); }
  __device__ int64_t length(int64_t s) const { return begin(s + 1) - begin(s); }
  __device__ int64_t small_limit() const { return kRowsPerLane * rows; }
  __device__ int64_t warp_limit() const { return max(kRowsPerLane * 32 / columns, int64_t{256}); }
};

// This thread's place in its team.
struct TeamPlace {
  int row, rows;        // its row, of so many
  int column, columns;  // its column, of so many
};

template <class State>
__device__ State shuffle_xor(unsigned mask, State state, int other) {
  static_assert(sizeof(State) % 4 == 0);
  uint32_t words[sizeof(State) / 4];
  memcpy(words, &state, sizeof(State));
#pragma unroll
  for (uint32_t& word : words) word = __shfl_xor_sync(mask, word, other);
  memcpy(&state, words, sizeof(State));
  return state;
}

// Merges the states of a column's rows among `lanes` neighbouring lanes; all get the result.
template <class Op>
__device__ void merge_lanes(const Op& op, typename Op::State& state, unsigned mask, int columns,
                            int lanes) {
  if constexpr (!std::is_empty_v<typename Op::State>) {
    for (int other = columns; other < lanes; other *= 2) {
      op.merge(state, shuffle_xor(mask, state, other));
    }
  }
}

// One segment, by one team. `merge_team(state)` merges the states of a column's threads.
template <class Op, class MergeTeam>
__device__ void run_segment(const Op& op, const SegmentShape& shape, const TeamPlace& place,
                            int64_t segment, const MergeTeam& merge_team) {
  const int64_t begin = shape.begin(segment), end = shape.begin(segment + 1);
  for (int64_t first = int64_t{blockIdx.y} * place.columns; first < shape.width;
       first += int64_t{gridDim.y} * place.columns) {
    const int64_t column = first + place.column;
    const int64_t my_end = column < shape.width ? end : begin;  // idle columns have no rows
    // Visits this thread's rows, kRowsInFlight loads ahead of their use.
    const auto for_each_row = [&](auto&& use) {
      for (int64_t row = begin + place.row; row < my_end; row += place.rows * kRowsInFlight) {
        typename Op::Item items[kRowsInFlight];
#pragma unroll
        for (int u = 0; u < kRowsInFlight; ++u) {
          const int64_t r = min(row + u * place.rows, my_end - 1);
          items[u] = op.load(segment, r, column, r * shape.width + column);
        }
#pragma unroll
        for (int u = 0; u < kRowsInFlight; ++u) {
          if (row + u * place.rows < my_end) use(items[u], row + u * place.rows);
        }
      }
    };
    typename Op::State state;
    for_each_row([&](const auto& item, int64_t row) { op.push(state, item, row); });
    merge_team(state);
    if constexpr (Op::kEachRow) {
      for_each_row([&](const auto& item, int64_t row) {
        op.finish(state, item, row * shape.width + column);
      });
    } else if (place.row == 0 && column < shape.width) {
      op.finish(state, segment, column);
    }
  }
}

// Every segment but the hubs: small teams first, then the warp's longer segments one by one.
template <class Op>
__global__ void __launch_bounds__(kTeamThreads)
    segments_kernel(const Op op, const SegmentShape shape) {
  const int lanes = shape.columns * shape.rows, lane = static_cast<int>(threadIdx.x) % 32;
  const int64_t segment = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / lanes;
  const bool exists = segment < shape.num_segments;
  const int64_t length = exists ? shape.length(segment) : 0;
  if (exists && length <= shape.small_limit()) {
    const unsigned mask = (lanes == 32 ? ~0u : (1u << lanes) - 1) << (lane / lanes * lanes);
    const TeamPlace place{lane % lanes / shape.columns, shape.rows, lane % shape.columns,
                          shape.columns};
    run_segment(op, shape, place, segment, [&](typename Op::State& state) {
      merge_lanes(op, state, mask, shape.columns, lanes);
    });
  }
  __syncwarp();
  const bool long_one = length > shape.small_limit() && length <= shape.warp_limit();
  unsigned waiting = __ballot_sync(~0u, long_one && lane % lanes == 0);
  for (; waiting != 0; waiting &= waiting - 1) {
    const int64_t next = __shfl_sync(~0u, segment, __ffs(static_cast<int>(waiting)) - 1);
    const TeamPlace place{lane / shape.columns, 32 / shape.columns, lane % shape.columns,
                          shape.columns};
    run_segment(op, shape, place, next,
                [&](typename Op::State& state) { merge_lanes(op, state, ~0u, shape.columns, 32); });
  }
}

// The hubs: block b has those among segments b, b + gridDim.x, ...
template <class Op>
__global__ void __launch_bounds__(kHubThreads)
    hub_segments_kernel(const Op op, const SegmentShape shape) {
  constexpr int kWarps = kHubThreads / 32;
  using State = typename Op::State;
  __shared__ int64_t hubs[kHubThreads];
  __shared__ int num_hubs;
  alignas(16) __shared__ unsigned char shared_states[kWarps * 32 * sizeof(State)];
  State* states = reinterpret_cast<State*>(shared_states);  // [warp][column]

  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int rows = 32 / shape.columns;  // of a warp
  const TeamPlace place{warp * rows + lane / shape.columns, kWarps * rows, lane % shape.columns,
                        shape.columns};
  const auto merge_block = [&](State& state) {
    merge_lanes(op, state, ~0u, shape.columns, 32);
    __syncthreads();  // the previous states have been read
    if (lane < shape.columns) states[warp * shape.columns + lane] = state;
    __syncthreads();
    state = states[place.column];
    for (int w = 1; w < kWarps; ++w) op.merge(state, states[w * shape.columns + place.column]);
  };
  const int64_t stride = gridDim.x;
  for (int64_t first = blockIdx.x; first < shape.num_segments; first += stride * blockDim.x) {
    const int64_t mine = first + threadIdx.x * stride;
    const bool hub = mine < shape.num_segments && shape.length(mine) > shape.warp_limit();
    if (__syncthreads_or(hub) == 0) continue;
    if (threadIdx.x == 0) num_hubs = 0;
    __syncthreads();
    if (hub) hubs[atomicAdd(&num_hubs, 1)] = mine;  // in any order: segments are independent
    __syncthreads();
    for (int i = 0; i < num_hubs; ++i) run_segment(op, shape, place, hubs[i], merge_block);
    __syncthreads();
  }
}

// Zeroes the rows before the first and behind the last segment.
template <class T>
__global__ void zero_outside_kernel(SegmentShape shape, T* out) {
  const int64_t before = shape.begin(0) * shape.width;
  const int64_t behind = shape.begin(shape.num_segments) * shape.width;
  for (int64_t i : grid_stride(before + shape.num_rows * shape.width - behind)) {
    out[i < before ? i : behind + i - before] = T(0.0f);
  }
}

template <class T>
SegmentShape segment_shape(const Segments<T>& s) {
  const auto power_of_two = [](int64_t at_least, int most) {
    int n = 1;
    while (n < at_least && n < most) n *= 2;
    return n;
  };
  SegmentShape shape{s.indptr, s.num_segments, s.num_rows, s.width, power_of_two(s.width, 32), 1};
  const int64_t mean = s.num_rows / std::max<int64_t>(s.num_segments, 1);
  shape.rows = power_of_two((mean + kRowsInFlight - 1) / kRowsInFlight, 32 / shape.columns);
  return shape;
}

template <class T, class Op>
void launch_segments(const Segments<T>& s, const Op& op, cudaStream_t stream) {
  if (s.num_segments == 0 || s.width == 0) return;
  const SegmentShape shape = segment_shape(s);
  const unsigned column_blocks = blocks_for(s.width, shape.columns, 65535);
  const int teams = kTeamThreads / (shape.columns * shape.rows);
  segments_kernel<<<dim3(blocks_for(s.num_segments, teams), column_blocks), kTeamThreads, 0,
                    stream>>>(op, shape);
  launch_check("segments_kernel");
  hub_segments_kernel<<<dim3(blocks_for(s.num_segments, 1, kHubBlocks), column_blocks), kHubThreads,
                        0, stream>>>(op, shape);
  launch_check("hub_segments_kernel");
}

// For operators that write every row: also those that no segment owns.
template <class T>
void zero_outside(const Segments<T>& s, T* out, cudaStream_t stream) {
  if (s.num_rows == 0 || s.width == 0) return;
  zero_outside_kernel<<<blocks_for(s.num_rows * s.width, 256, 1024), 256, 0, stream>>>(
      segment_shape(s), out);
  launch_check("zero_outside_kernel");
}

}  // namespace sage::segment
