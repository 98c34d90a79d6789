// The forward's arithmetic, for instance_isa.cpp: blocks of edges, all heads at once, one softmax
// update a block.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/attention/edge_terms_isa.h"
#include "kernels/attention/edges.h"
#include "kernels/core/edge_tiles.h"
#include "kernels/core/vector_math.h"

namespace sage {
namespace SAGE_ISA {

// Turns one head's logits, in units of log2, into exp2(logit - new maximum), pushes them into
// the softmax state {max, sum} and returns the factor for what was added up before.
template <class A>
inline A push_softmax(const EdgeBlock& block, A* logit, A& max, A& sum) {
  constexpr A kNone = -std::numeric_limits<A>::infinity();
  for (int e = block.count; e < block.padded; ++e) logit[e] = kNone;
  A lanes[kLanes];
#pragma omp simd
  for (int l = 0; l < kLanes; ++l) lanes[l] = max;
  for (int e = 0; e < block.padded; e += kLanes) {
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) lanes[l] = logit[e + l] > lanes[l] ? logit[e + l] : lanes[l];
  }
  const A old = max;
  max = fold_lanes<kLanes>(lanes, [](A a, A b) { return a > b ? a : b; });
  const A base = max == kNone ? A{0} : max;  // (-inf) - (-inf) would be NaN
#pragma omp simd
  for (int l = 0; l < kLanes; ++l) lanes[l] = 0;
  for (int e = 0; e < block.padded; e += kLanes) {
#pragma omp simd
    for (int l = 0; l < kLanes; ++l) {
      logit[e + l] = exp2_lane(logit[e + l] - base);
      lanes[l] += logit[e + l];
    }
  }
  const A scale = old == max ? A{1} : exp2_lane(old - base);
  sum = scale * sum + fold_lanes<kLanes>(lanes, [](A a, A b) { return a + b; });
  return scale;
}

}  // namespace SAGE_ISA

template <Isa kIsa, class Score, class T>
ReduceSizes AttentionForwardEdges<kIsa, Score, T>::sizes(const AttentionForward<T>& p) {
  return {p.heads * (p.value_dim + 2), p.heads * (SAGE_ISA::kEdgeBlock + 1)};
}

template <Isa kIsa, class Score, class T>
void AttentionForwardEdges<kIsa, Score, T>::push(const AttentionForward<T>& p, Score score,
                                                 int64_t row, int64_t begin, int64_t end,
                                                 A* partial, A* scratch) {
  using namespace SAGE_ISA;
  const int64_t heads = p.heads, key_dim = p.key_dim, value_dim = p.value_dim;
  const ForwardPartial<A> state(partial, heads, value_dim);
  const T* q = p.q + row * heads * key_dim;
  A* weights = scratch;  // [H, kEdgeBlock]: logits at first
  A* scale = scratch + heads * kEdgeBlock;
  for (int64_t c = 0; c < heads * value_dim; ++c) state.sums[c] = 0;
  for (int64_t h = 0; h < heads; ++h) {
    state.softmax_max[h] = -std::numeric_limits<A>::infinity();
    state.softmax_sum[h] = 0;
  }
  for (int64_t first = begin; first < end; first += kEdgeBlock) {
    const EdgeBlock block(p.graph, first, end);
    prefetch_rows(p.graph, block, p.k, heads * key_dim);
    prefetch_rows(p.graph, block, p.v, heads * value_dim);
    const BlockTerms<T> terms(p.edge, p.graph, block, heads);
    const RowOffsets k_rows(block, heads * key_dim), v_rows(block, heads * value_dim);
    for (int64_t h = 0; h < heads; ++h) {
      A* logit = weights + h * kEdgeBlock;
      for (int e = 0; e < block.padded; ++e) logit[e] = 0;
      for_tiles<A>(key_dim, [&](auto width, int64_t c) {
        const int64_t at = h * key_dim + c;
        reduce_tile<width>(q + at, p.k + at, k_rows, block.count, logit,
                           [&](A x, A y) { return score.partial(x, y); });
      });
      for (int e = 0; e < block.padded; ++e) logit[e] = score.finish(logit[e]);
    }
    terms.add_bias(weights);
    for (int64_t h = 0; h < heads; ++h) {
      A* logit = weights + h * kEdgeBlock;
      for (int e = 0; e < block.padded; ++e) logit[e] *= static_cast<A>(kLog2E);
      scale[h] = push_softmax(block, logit, state.softmax_max[h], state.softmax_sum[h]);
    }
    terms.apply_weight(weights);
    terms.apply_dropout(weights);
    for (int64_t h = 0; h < heads; ++h) {
      const A* weight = weights + h * kEdgeBlock;
      for_tiles<A>(value_dim, [&](auto width, int64_t c) {
        const int64_t at = h * value_dim + c;
        accumulate_tile<width>(state.sums + at, scale[h], p.v + at, v_rows, block.count,
                               [&](int e, int, A x) { return weight[e] * x; });
      });
    }
  }
}

}  // namespace sage
