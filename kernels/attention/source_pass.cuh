// Source pass of the attention backward on CUDA: a source's key and value stay in registers, the
// rows of its destinations are gathered.
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

namespace sage {

template <class A>
struct alignas(2 * sizeof(A)) LseDelta {
  A lse, delta;
};

__device__ inline LseDelta<float> load_pair(const LseDelta<float>* p) {
  const float2 x = __ldg(reinterpret_cast<const float2*>(p));
  return {x.x, x.y};
}
__device__ inline LseDelta<double> load_pair(const LseDelta<double>* p) {
  const double2 x = __ldg(reinterpret_cast<const double2*>(p));
  return {x.x, x.y};
}

template <class Score, class T, class L, bool kEdgeTerms>
static __global__ void __launch_bounds__(kThreads, kMinBlocks<T, L, kEdgeTerms>)
    source_pass_kernel(const AttentionSourcePass<T> p, const Groups groups,
                       const RowShape key_shape, const RowShape value_shape, const EdgeArgs<T> edge,
                       const Score score) {
  using A = Acc<T>;
  constexpr A kInf = std::numeric_limits<A>::infinity();
  constexpr A kLog2e = A{1.442695040888963407359924681};
  const Place<L> at = find_place<L>(groups);
  if (warp_is_idle(at.task)) return;

  const RowSpan<T, L> keys(at, key_shape), values(at, value_shape);
  const char* const q_origin = keys.origin(p.q);
  const char* const grad_origin = values.origin(p.grad);
  const auto* const lse_delta = reinterpret_cast<const LseDelta<A>*>(p.lse_delta) + at.head;
  Unpacked<T, L> k, v, dk, dv;
  A k_one = 0, dk_one = 0;
  if constexpr (Score::kPerFeature) {
    keys.load_unpacked(p.k, at.row, k);
    set_zero<T, L>(dk);
  } else {
    k_one = load_one(p.k + int64_t{at.row} * groups.heads + at.head);
  }
  values.load_unpacked(p.v, at.row, v);
  set_zero<T, L>(dv);
  const uint64_t seed = load_seed<kEdgeTerms>(edge);
  const bool writes_edges = at.stores && at.part < L::kScatter;

  walk_edges<L, kEdgeTerms>(at.task, p.graph, [&](const Chunk<L>& chunk) {
    uint4 q[L::kEdges][L::kVecs], grad[L::kEdges][L::kVecs];
    LseDelta<A> row[L::kOwned];
    OwnedTerms<A> terms[L::kOwned];
    int64_t id[L::kOwned];
    A q_one[L::kOwned];
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) {
      if constexpr (Score::kPerFeature) keys.load(q_origin, chunk.cols[u], q[u]);
      values.load(grad_origin, chunk.cols[u], grad[u]);
    }
#pragma unroll
    for (int o = 0; o < L::kOwned; ++o) {
      const uint64_t head_at = uint64_t{owned<L>(chunk.my_col, o)} * groups.heads;
      row[o] = load_pair(lse_delta + head_at);
      q_one[o] = Score::kPerFeature ? A{0} : load_one(p.q + head_at + at.head);
    }
#pragma unroll
    for (int o = 0; o < L::kOwned; ++o) {
      id[o] = kEdgeTerms ? owned<L>(chunk.my_id, o) : 0;
      terms[o] = load_terms<kEdgeTerms>(edge, seed, id[o], at.head, groups.heads);
    }

    A sum[L::kEdges], value_sum[L::kEdges];  // later for each owned edge
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) {
      if constexpr (Score::kPerFeature) {
        sum[u] = partial_sum(keys, k, q[u], [&](A mine, A x) { return score.partial(x, mine); });
      }
      value_sum[u] = partial_sum(values, v, grad[u], [](A mine, A x) { return mine * x; });
    }
    if constexpr (Score::kPerFeature) {
      reduce_scatter<L>(sum);
    } else {
#pragma unroll
      for (int o = 0; o < L::kOwned; ++o) sum[o] = score.partial(q_one[o], k_one);
    }
    reduce_scatter<L>(value_sum);

    A weight[L::kOwned], dsum[L::kOwned];
#pragma unroll
    for (int o = 0; o < L::kOwned; ++o) {
      const int32_t e = owned_edge(chunk, o);
      const A logit = score.finish(sum[o]) + terms[o].bias;
      const A prob = row[o].lse == -kInf ? A{0} : exp2((logit - row[o].lse) * kLog2e);
      const A factor = terms[o].weight * terms[o].keep;
      const A dlogit = prob * (factor * value_sum[o] - row[o].delta);
      const bool real = e < at.task.count;
      weight[o] = real ? prob * factor : A{0};
      dsum[o] = real ? score.finish_grad(sum[o], dlogit) : A{0};
      if (real && writes_edges) {
        p.dsum[(at.task.begin + e) * groups.heads + at.head] = round_to<T>(dsum[o]);
        if constexpr (kEdgeTerms) {
          const int64_t to = id[o] * groups.heads + at.head;
          if (p.dbias != nullptr) p.dbias[to] = round_to<T>(dlogit);
          if (p.dweight != nullptr) {
            p.dweight[to] = round_to<T>(prob * terms[o].keep * value_sum[o]);
          }
        }
      }
      if constexpr (!Score::kPerFeature) {
        dk_one += real ? score.partial_grad(q_one[o], k_one, dsum[o]).dk : A{0};
      }
    }

    A weights[L::kEdges], dsums[L::kEdges];
#pragma unroll
    for (int u = 0; u < L::kEdges; ++u) {
      weights[u] = broadcast<L>(weight, u);
      if constexpr (Score::kPerFeature) dsums[u] = broadcast<L>(dsum, u);
    }
    for_real_edges<L>(at.task.count - chunk.first, [&](int u) {
      accumulate<T, L, true>(dv, grad[u], [&](int, int, A x) { return weights[u] * x; });
      if constexpr (Score::kPerFeature) {
        accumulate<T, L, true>(dk, q[u], [&](int r, int i, A x) {
          return score.partial_grad(x, k[r][i], dsums[u]).dk;
        });
      }
    });
  });

  if constexpr (!Score::kPerFeature) dk_one = sum_owners<L>(dk_one);
  if (!at.stores) return;
  if (at.task.slot < 0) {
    values.store(p.dv, at.row, dv, A{1});
    if constexpr (Score::kPerFeature) {
      keys.store(p.dk, at.row, dk, A{1});
    } else if (at.part == 0) {
      p.dk[int64_t{at.row} * groups.heads + at.head] = round_to<T>(dk_one);
    }
  } else {
    const SourcePartial<A> part(p.partial, at.task.slot, groups.heads, p.key_dim, p.value_dim);
    values.store_partial(part.dv, dv);
    if constexpr (Score::kPerFeature) {
      keys.store_partial(part.dk, dk);
    } else if (at.part == 0) {
      part.dk[at.head] = dk_one;
    }
  }
}

template <class Score, class T, bool kEdgeTerms>
void launch_source_pass(const AttentionSourcePass<T>& p, const EdgeArgs<T>& edge, Score score,
                        CudaStream stream) {
  const int64_t dim = Score::kPerFeature ? std::max(p.key_dim, p.value_dim) : p.value_dim;
  with_lanes<T>(dim, [&](auto lanes) {
    using L = decltype(lanes);
    const Groups groups = make_groups<L>(p.schedule, p.heads);
    source_pass_kernel<Score, T, L, kEdgeTerms>
        <<<groups.blocks, kThreads, 0, stream>>>(p, groups, make_shape<T>(p.heads, p.key_dim),
                                                 make_shape<T>(p.heads, p.value_dim), edge, score);
    launch_check("attention_source_pass");
  });
}

template <class Score, class T>
void attention_source_pass_cuda(const AttentionSourcePass<T>& p, Score score, CudaStream stream) {
  if (p.graph.num_rows == 0 || p.heads == 0) return;
  check_graph(p.graph, p.schedule);
  if constexpr (Score::kPerFeature) {
    check_rows("q", p.q, p.heads, p.key_dim, sizeof(T), kMaxDim);
    check_rows("k", p.k, p.heads, p.key_dim, sizeof(T), kMaxDim);
    check_rows("dk", p.dk, p.heads, p.key_dim, sizeof(T), kMaxDim);
  } else {
    check_one_number(p.key_dim);
  }
  check_rows("v", p.v, p.heads, p.value_dim, sizeof(T), kMaxDim);
  check_rows("grad", p.grad, p.heads, p.value_dim, sizeof(T), kMaxDim);
  check_rows("dv", p.dv, p.heads, p.value_dim, sizeof(T), kMaxDim);
  const EdgeArgs<T> edge(p.edge);
  constexpr bool kAlwaysTerms = sizeof(T) == 8;  // float64: one kernel for both, to save building
  if (kAlwaysTerms || edge.any() || p.dbias != nullptr || p.dweight != nullptr) {
    launch_source_pass<Score, T, true>(p, edge, score, stream);
  } else {
    launch_source_pass<Score, T, kAlwaysTerms>(p, edge, score, stream);
  }
  if (p.schedule.num_splits > 0) merge_source(p, stream);
}

}  // namespace sage
