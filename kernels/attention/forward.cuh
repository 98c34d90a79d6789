// Attention forward on CUDA: one pass over the edges, softmax a few edges at a time.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/attention/edge_terms.cuh"
#include "kernels/attention/group.cuh"
#include "kernels/attention/merge.cuh"
#include "kernels/attention/operand_check.h"
#include "kernels/attention/rows.cuh"
#include "kernels/core/cuda_check.cuh"
#include "kernels/core/softmax_state.h"

namespace sage {

template <class Score, class T, class L, bool kEdgeTerms>
static __global__ void __launch_bounds__(kThreads, kMinBlocks<T, L, kEdgeTerms>)
    forward_kernel(const AttentionForward<T> p, const Groups groups, const RowShape key_shape,
                   const RowShape value_shape, const EdgeArgs<T> edge, const Score score) {
  using A = Acc<T>;
  constexpr A kInf = std::numeric_limits<A>::infinity();
  constexpr A kLog2e = A{1.442695040888963407359924681};
  const Place<L> at = find_place<L>(groups);
  if (warp_is_idle(at.task)) return;

  const RowSpan<T, L> keys(at, key_shape), values(at, value_shape);
  const char* const k_origin = keys.origin(p.k);
  const char* const v_origin = values.origin(p.v);
  Unpacked<T, L> q, acc;
  A q_one = 0;
  if constexpr (Score::kPerFeature) {
    keys.load_unpacked(p.q, at.row, q);
  } else {
    q_one = load_one(p.q + int64_t{at.row} * groups.heads + at.head);
  }
  set_zero<T, L>(acc);
  const uint64_t seed = load_seed<kEdgeTerms>(edge);
  SoftmaxState<A> state;  // max: of the head; sum: of the edges that this lane owns

  walk_edges<L, kEdgeTerms>(at.task, p.graph, [&](const Chunk<L>& chunk) {
    uint4 k[L::kEdges][L::kVecs], v[L::kEdges][L::kVecs];
    A logit[L::kOwned], factor[L::kOwned], bias[L::kOwned];
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) {
      if constexpr (Score::kPerFeature) keys.load(k_origin, chunk.cols[u], k[u]);
      values.load(v_origin, chunk.cols[u], v[u]);
    }
    if constexpr (!Score::kPerFeature) {
#pragma unroll
      for (int o = 0; o < L::kOwned; ++o) {
        const int64_t col = owned<L>(chunk.my_col, o);
        logit[o] = load_one(p.k + col * groups.heads + at.head);
      }
    }
#pragma unroll
    for (int o = 0; o < L::kOwned; ++o) {
      const int64_t id = kEdgeTerms ? owned<L>(chunk.my_id, o) : 0;
      const auto terms = load_terms<kEdgeTerms>(edge, seed, id, at.head, groups.heads);
      bias[o] = terms.bias;
      factor[o] = terms.weight * terms.keep;
    }

    if constexpr (Score::kPerFeature) {
      A sums[L::kEdges];
#pragma unroll
      for (int u = 0; u < L::kEdges; ++u) {
        sums[u] = partial_sum(keys, q, k[u], [&](A a, A b) { return score.partial(a, b); });
      }
      reduce_scatter<L>(sums);
#pragma unroll
      for (int o = 0; o < L::kOwned; ++o) logit[o] = sums[o];
    } else {
#pragma unroll
      for (int o = 0; o < L::kOwned; ++o) logit[o] = score.partial(q_one, logit[o]);
    }

    A top = state.max;
#pragma unroll
    for (int o = 0; o < L::kOwned; ++o) {
      const bool real = owned_edge(chunk, o) < at.task.count;
      logit[o] = real ? (score.finish(logit[o]) + bias[o]) * kLog2e : -kInf;
      top = fmax(top, logit[o]);
    }
#pragma unroll
    for (int s = 1; s < L::kScatter; s *= 2) top = fmax(top, __shfl_xor_sync(kFullWarp, top, s));
    // While nothing finite was seen everything has weight 0, and nothing subtracts -inf from -inf.
    const A base = top == -kInf ? A{0} : top;
    const A shrink = exp2(state.max - base);
    state.max = top;
    state.sum *= shrink;
#pragma unroll
    for (int r = 0; r < L::kVecs; ++r) {
#pragma unroll
      for (int i = 0; i < kVec<T>; ++i) acc[r][i] *= shrink;
    }
#pragma unroll
    for (int o = 0; o < L::kOwned; ++o) {
      const A weight = exp2(logit[o] - base);
      state.sum += weight;
      logit[o] = kEdgeTerms ? weight * factor[o] : weight;
    }

    A weights[L::kEdges];
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) weights[u] = broadcast<L>(logit, u);
    for_real_edges<L>(at.task.count - chunk.first, [&](int u) {
      accumulate<T, L, false>(acc, v[u], [&](int, int, A x) { return weights[u] * x; });
    });
  });

  state.sum = sum_owners<L>(state.sum);
  if (!at.stores) return;
  if (at.task.slot < 0) {
    values.store(p.out, at.row, acc, state.sum == 0 ? A{0} : 1 / state.sum);
    if (at.part == 0) p.lse[int64_t{at.row} * groups.heads + at.head] = state.log_sum_exp();
  } else {
    const SoftmaxPartial<A> part(p.partial, at.task.slot, groups.heads, p.value_dim);
    values.store_partial(part.acc, acc);
    if (at.part == 0) {
      part.max[at.head] = state.max;
      part.sum[at.head] = state.sum;
    }
  }
}

template <class Score, class T, bool kEdgeTerms>
void launch_forward(const AttentionForward<T>& p, const EdgeArgs<T>& edge, Score score,
                    CudaStream stream) {
  const int64_t dim = Score::kPerFeature ? std::max(p.key_dim, p.value_dim) : p.value_dim;
  with_lanes<T>(dim, [&](auto lanes) {
    using L = decltype(lanes);
    const Groups groups = make_groups<L>(p.schedule, p.heads);
    forward_kernel<Score, T, L, kEdgeTerms>
        <<<groups.blocks, kThreads, 0, stream>>>(p, groups, make_shape<T>(p.heads, p.key_dim),
                                                 make_shape<T>(p.heads, p.value_dim), edge, score);
    launch_check("attention_forward");
  });
}

template <class Score, class T>
void attention_forward_cuda(const AttentionForward<T>& p, Score score, CudaStream stream) {
  if (p.graph.num_rows == 0 || p.heads == 0) return;
  check_graph(p.graph, p.schedule);
  if constexpr (Score::kPerFeature) {
    check_rows("q", p.q, p.heads, p.key_dim, sizeof(T), kMaxDim);
    check_rows("k", p.k, p.heads, p.key_dim, sizeof(T), kMaxDim);
  } else {
    check_one_number(p.key_dim);
  }
  check_rows("v", p.v, p.heads, p.value_dim, sizeof(T), kMaxDim);
  check_rows("out", p.out, p.heads, p.value_dim, sizeof(T), kMaxDim);

  const EdgeArgs<T> edge(p.edge);
  constexpr bool kAlwaysTerms = sizeof(T) == 8;  // float64: one kernel for both, to save building
  if (kAlwaysTerms || edge.any()) {
    launch_forward<Score, T, true>(p, edge, score, stream);
  } else {
    launch_forward<Score, T, kAlwaysTerms>(p, edge, score, stream);
  }
  if (p.schedule.num_splits > 0) merge_forward(p, stream);
}

}  // namespace sage
