// What the gathering kernels share: which task and head a lane works on, the walk over a task's
// edges, and sums over the lanes of a head.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "kernels/attention/lanes.cuh"
#include "kernels/core/check.h"
#include "kernels/core/csr.h"

namespace sage {

inline constexpr int kThreads = 128;
inline constexpr unsigned kFullWarp = 0xffffffffu;

// The run-time half of a layout: groups of 1 << shift lanes; head_blocks groups share a task when
// the heads need more than a warp.
struct Groups {
  ScheduleView schedule;
  uint32_t heads = 0;
  uint32_t shift = 0;
  uint32_t head_blocks = 1;
  unsigned blocks = 0;  // of kThreads threads, one group a task and head block
};

template <class L>
Groups make_groups(const ScheduleView& schedule, int64_t heads) {
  const auto heads2 = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(heads)));
  const int64_t lanes = std::clamp<int64_t>(L::kHeadLanes * heads2, 4, 32);
  const int64_t heads_a_group = lanes / L::kHeadLanes;
  const int64_t head_blocks = (heads + heads_a_group - 1) / heads_a_group;
  check(schedule.num_tasks < (int64_t{1} << 32) / head_blocks, [&] {
    return "tasks = " + std::to_string(schedule.num_tasks) +
           " times heads = " + std::to_string(heads) + " exceed a CUDA grid; use fewer heads";
  });
  Groups g;
  g.schedule = schedule;
  g.heads = static_cast<uint32_t>(heads);
  g.shift = static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(lanes)));
  g.head_blocks = static_cast<uint32_t>(head_blocks);
  const int64_t per_block = kThreads >> g.shift;
  g.blocks = static_cast<unsigned>((schedule.num_tasks * head_blocks + per_block - 1) / per_block);
  return g;
}

// The lane's work. Lanes without work of their own (row -1, head beyond the last) follow along on
// valid addresses, because all lanes of a warp shuffle together; they store nothing.
template <class L>
struct Place {
  Task task;
  uint32_t row;   // of the task, 0 where there is none
  uint32_t head;  // in [0, heads)
  uint32_t part;  // which of the head's kHeadLanes lanes
  bool stores;
};

template <class L>
__device__ inline Place<L> find_place(const Groups& g) {
  uint32_t group = blockIdx.x * (kThreads >> g.shift) + (threadIdx.x >> g.shift);
  uint32_t head_block = 0;
  if (g.head_blocks > 1) {
    head_block = group % g.head_blocks;
    group /= g.head_blocks;
  }
  Place<L> p;
  if (group < g.schedule.num_tasks) {
    const auto* task = reinterpret_cast<const long long*>(g.schedule.tasks) + 2 * int64_t{group};
    p.task = ScheduleView::decode_task(__ldg(task), __ldg(task + 1));
  }
  const uint32_t lanes = 1u << g.shift, in_group = threadIdx.x & (lanes - 1);
  const uint32_t head = head_block * (lanes / L::kHeadLanes) + in_group / L::kHeadLanes;
  p.stores = p.task.row >= 0 && head < g.heads;
  p.row = static_cast<uint32_t>(max(p.task.row, 0));
  p.head = min(head, g.heads - 1);
  p.part = in_group % L::kHeadLanes;
  return p;
}

// True for all lanes of a warp that has nothing but padding.
__device__ inline bool warp_is_idle(const Task& task) {
  return __all_sync(kFullWarp, task.row < 0);
}

// kEdges edges of a task. Every four lanes (kEdges of them) load one index each and exchange them.
template <class L>
struct Chunk {
  int32_t first;             // of the task's edges
  uint32_t cols[L::kEdges];  // edges beyond the task's count repeat its last
  uint32_t my_col;           // of edge lane % kEdges
  int64_t my_id;             // its edge id, where asked for
};

// Of values that lane % kEdges holds for that edge: the one of the o-th edge that this lane owns.
template <class L, class V>
__device__ inline V owned(V mine, int o) {
  if constexpr (L::kOwned == 1) {
    return mine;
  } else {
    const int edge = o * L::kScatter + static_cast<int>(threadIdx.x % L::kScatter);
    return __shfl_sync(kFullWarp, mine, edge, L::kEdges);
  }
}

// The o-th edge that this lane owns, counted from the task's first.
template <class L>
__device__ inline int32_t owned_edge(const Chunk<L>& c, int o) {
  return c.first + o * L::kScatter + static_cast<int32_t>(threadIdx.x % L::kScatter);
}

// Keeps a value computed ahead of a loop in a register of its own; the compiler would rather
// compute it again at every turn.
__device__ inline void pin(float& x) { asm volatile("" : "+f"(x)); }
__device__ inline void pin(double& x) { asm volatile("" : "+d"(x)); }
__device__ inline void pin(const char*& x) { asm volatile("" : "+l"(x)); }

// Calls body(chunk) for the edges of the task, the same number of times in all lanes of the warp.
// The indices of the next chunk are on their way while body runs. Columns are below 2^32, so that
// the low word of a wide index will do. Columns and ids out of range become the last one: nothing
// outside the arrays is touched, whatever the graph holds.
template <class L, bool kIds, class Body>
__device__ inline void walk_edges(const Task& task, const CsrView& graph, Body&& body) {
  int32_t count = graph.num_cols > 0 ? task.count : 0;
#pragma unroll
  for (int x = 4; x < 32; x *= 2) count = max(count, __shfl_xor_sync(kFullWarp, count, x));
  if (count == 0) return;

  // A group without edges beside one that has some follows along on edge 0.
  const uint32_t mine = threadIdx.x % L::kEdges, last = max(task.count, 1) - 1;
  const int64_t begin = task.count > 0 ? task.begin : 0;
  const auto bytes = static_cast<uint32_t>(graph.indices.bytes);
  const char* index = static_cast<const char*>(graph.indices.data) + begin * bytes;
  pin(index);
  const auto last_col = static_cast<uint32_t>(graph.num_cols - 1);
  const auto load_col = [&](uint32_t i) {
    const char* at = index + uint64_t{min(i, last)} * bytes;
    return min(__ldg(reinterpret_cast<const uint32_t*>(at)), last_col);
  };
  const auto load_id = [&](uint32_t i) {
    return kIds ? clamp_id(graph.edge_id(begin + min(i, last)), graph.num_edges) : int64_t{0};
  };
  uint32_t next_col = load_col(mine);
  int64_t next_id = load_id(mine);
  for (int32_t i = 0; i < count; i += L::kEdges) {
    Chunk<L> c{.first = i, .cols = {}, .my_col = next_col, .my_id = next_id};
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) {
      c.cols[u] = __shfl_sync(kFullWarp, next_col, u, L::kEdges);
    }
    next_col = load_col(static_cast<uint32_t>(i + L::kEdges) + mine);
    next_id = load_id(static_cast<uint32_t>(i + L::kEdges) + mine);
    body(c);
  }
}

// Sums kEdges values over the lanes of a head; afterwards x[o] is the sum for the o-th edge that
// this lane owns. Halving what is exchanged at each step takes kEdges - 1 shuffles for kEdges lanes
// where butterflies would take kEdges * log2(kEdges).
template <class L, class A>
__device__ inline void reduce_scatter(A (&x)[L::kEdges]) {
#pragma unroll
  for (int s = L::kScatter / 2; s > 0; s /= 2) {
    const bool upper = (threadIdx.x & static_cast<unsigned>(s)) != 0;
#pragma unroll
    for (int block = 0; block < L::kOwned; ++block) {
#pragma unroll
      for (int i = 0; i < s; ++i) {
        const A low = x[block * 2 * s + i], high = x[block * 2 * s + s + i];
        const A received = __shfl_xor_sync(kFullWarp, upper ? low : high, s);
        x[block * s + i] = (upper ? high : low) + received;
      }
    }
  }
#pragma unroll
  for (int s = L::kScatter; s < L::kHeadLanes; s *= 2) {
#pragma unroll
    for (int o = 0; o < L::kOwned; ++o) x[o] += __shfl_xor_sync(kFullWarp, x[o], s);
  }
}

// The value for edge u of a chunk, from the lane that owns it, to all lanes of the head.
template <class L, class A>
__device__ inline A broadcast(const A (&owned_values)[L::kOwned], int u) {
  if constexpr (L::kScatter == 1) {
    return owned_values[u];
  } else {
    return __shfl_sync(kFullWarp, owned_values[u / L::kScatter], u % L::kScatter, L::kScatter);
  }
}

// Sum over the lanes of a head that own different edges.
template <class L, class A>
__device__ inline A sum_owners(A x) {
#pragma unroll
  for (int s = 1; s < L::kScatter; s *= 2) x += __shfl_xor_sync(kFullWarp, x, s);
  return x;
}

// Calls f(u) for the edges of a chunk that exist, `left` of them at least. The others repeat an
// edge, and 0 times what is not finite would be NaN.
template <class L, class F>
__device__ inline void for_real_edges(int32_t left, F&& f) {
  if (left >= L::kEdges) {
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) f(u);
  } else {
#pragma unroll
    for (int u = 0; u < L::kEdges - 1; ++u) {
      if (u < left) f(u);
    }
  }
}

}  // namespace sage
