// The source pass's arithmetic, for instance_isa.cpp: blocks of edges, all heads at once.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/attention/edge_terms_isa.h"
#include "kernels/attention/edges.h"
#include "kernels/core/edge_tiles.h"
#include "kernels/core/vector_math.h"

namespace sage {
namespace SAGE_ISA {

template <class Score, class T>
class SourceBlocks {
 public:
  using A = Acc<T>;

  SourceBlocks(const AttentionSourcePass<T>& pass, Score score, A* scratch)
      : pass_(pass),
        score_(score),
        sum_(scratch),
        p_(sum_ + pass.heads * kEdgeBlock),
        m_(p_ + pass.heads * kEdgeBlock),
        grad_(m_ + pass.heads * kEdgeBlock),
        lse_(grad_ + pass.heads * kEdgeBlock),
        delta_(lse_ + pass.heads * kEdgeBlock) {}
  static int64_t scratch_size(int64_t heads) { return 6 * heads * kEdgeBlock; }

  // Writes what edges [begin, end) of `row` bring: dk and dv to `partial`, and what is per edge to
  // its place.
  void push_edges(int64_t row, int64_t begin, int64_t end, A* partial) const {
    const int64_t heads = pass_.heads, key_dim = pass_.key_dim, value_dim = pass_.value_dim;
    const T* k = pass_.k + row * heads * key_dim;
    const T* v = pass_.v + row * heads * value_dim;
    A* dk = partial;
    A* dv = partial + heads * key_dim;
    for (int64_t c = 0; c < heads * (key_dim + value_dim); ++c) partial[c] = 0;
    for (int64_t first = begin; first < end; first += kEdgeBlock) {
      const EdgeBlock block(pass_.graph, first, end);
      prefetch_rows(pass_.graph, block, pass_.q, heads * key_dim);
      prefetch_rows(pass_.graph, block, pass_.grad, heads * value_dim);
      prefetch_rows(pass_.graph, block, pass_.lse_delta, heads * 2);
      const RowOffsets q_rows(block, heads * key_dim), grad_rows(block, heads * value_dim);
      load_lse_delta(block);  // early: the other loads need not wait for its cache misses
      reduce_features(block, q_rows, grad_rows, k, v);
      differentiate_softmax(block);
      for (int64_t h = 0; h < heads; ++h) {
        const A* dsum = sum_ + h * kEdgeBlock;
        const A* weight = m_ + h * kEdgeBlock;
        for_tiles<A>(value_dim, [&](auto width, int64_t c) {
          const int64_t at = h * value_dim + c;
          accumulate_tile<width>(dv + at, A{1}, pass_.grad + at, grad_rows, block.count,
                                 [&](int e, int, A x) { return weight[e] * x; });
        });
        for_tiles<A>(key_dim, [&](auto width, int64_t c) {
          const int64_t at = h * key_dim + c;
          accumulate_tile<width>(dk + at, A{1}, pass_.q + at, q_rows, block.count,
                                 [&](int e, int i, A x) {
                                   const A y = static_cast<A>(k[at + i]);
                                   return score_.partial_grad(x, y, dsum[e]).dk;
                                 });
        });
      }
    }
  }

 private:
  // sum = score's sum over the features, grad = grad_i . v_j.
  void reduce_features(const EdgeBlock& block, const RowOffsets& q_rows,
                       const RowOffsets& grad_rows, const T* k, const T* v) const {
    for (int64_t h = 0; h < pass_.heads; ++h) {
      A* sum = sum_ + h * kEdgeBlock;
      A* grad = grad_ + h * kEdgeBlock;
      for (int e = 0; e < block.padded; ++e) sum[e] = grad[e] = 0;
      for_tiles<A>(pass_.key_dim, [&](auto width, int64_t c) {
        const int64_t at = h * pass_.key_dim + c;
        reduce_tile<width>(k + at, pass_.q + at, q_rows, block.count, sum,
                           [&](A y, A x) { return score_.partial(x, y); });
      });
      for_tiles<A>(pass_.value_dim, [&](auto width, int64_t c) {
        const int64_t at = h * pass_.value_dim + c;
        reduce_tile<width>(v + at, pass_.grad + at, grad_rows, block.count, grad,
                           [](A y, A x) { return x * y; });
      });
    }
  }

  // From sum and grad: the softmax p, its multiplier m (then p * m) and the gradient of sum, which
  // replaces sum.
  void differentiate_softmax(const EdgeBlock& block) const {
    constexpr A kNone = -std::numeric_limits<A>::infinity();
    const BlockTerms<T> terms(pass_.edge, pass_.graph, block, pass_.heads);
    for_each_edge(block, [&](int64_t i) { p_[i] = score_.finish(sum_[i]), m_[i] = 1; });
    terms.add_bias(p_);
    for_each_edge(block, [&](int64_t i) {
      const A p = exp2_lane((p_[i] - lse_[i]) * static_cast<A>(kLog2E));
      p_[i] = lse_[i] == kNone ? A{0} : p;
    });
    terms.apply_dropout(m_);
    store_per_edge(block, terms, pass_.dweight,
                   [&](int64_t i) { return p_[i] * m_[i] * grad_[i]; });
    terms.apply_weight(m_);
    for_each_edge(block, [&](int64_t i) {
      const A dlogit = p_[i] * (m_[i] * grad_[i] - delta_[i]);
      sum_[i] = score_.finish_grad(sum_[i], dlogit);
      m_[i] *= p_[i];
      p_[i] = dlogit;
    });
    store_per_edge(block, terms, pass_.dbias, [&](int64_t i) { return p_[i]; });
    for (int e = 0; e < block.count; ++e) {
      T* out = pass_.dsum + (block.begin + e) * pass_.heads;
      for (int64_t h = 0; h < pass_.heads; ++h) {
        out[h] = static_cast<T>(sum_[h * kEdgeBlock + e]);
      }
    }
  }

  // f(i) for the block's values of each head, padding included, as vector code.
  template <class F>
  void for_each_edge(const EdgeBlock& block, F&& f) const {
    for (int64_t h = 0; h < pass_.heads; ++h) {
      for (int first = 0; first < block.padded; first += kLanes) {
        const int64_t i = h * kEdgeBlock + first;
#pragma omp simd
        for (int l = 0; l < kLanes; ++l) f(i + l);
      }
    }
  }

  void load_lse_delta(const EdgeBlock& block) const {
    for (int64_t h = 0; h < pass_.heads; ++h) {
      for (int e = 0; e < block.padded; ++e) {
        const int64_t i = h * kEdgeBlock + e;
        lse_[i] = delta_[i] = 0;
        if (e >= block.count) continue;
        const A* pair = pass_.lse_delta + (block.node[e] * pass_.heads + h) * 2;
        lse_[i] = pair[0], delta_[i] = pair[1];
      }
    }
  }

  // out[id, h] = value(i), unless `out` is null.
  template <class F>
  void store_per_edge(const EdgeBlock& block, const BlockTerms<T>& terms, T* out, F&& value) const {
    if (out == nullptr) return;
    for (int e = 0; e < block.count; ++e) {
      for (int64_t h = 0; h < pass_.heads; ++h) {
        out[terms.id(e) * pass_.heads + h] = static_cast<T>(value(h * kEdgeBlock + e));
      }
    }
  }

  const AttentionSourcePass<T>& pass_;
  Score score_;
  // Per-edge values of a block, [H, kEdgeBlock] each.
  A *sum_, *p_, *m_, *grad_, *lse_, *delta_;
};

}  // namespace SAGE_ISA

template <Isa kIsa, class Score, class T>
ReduceSizes AttentionSourceEdges<kIsa, Score, T>::sizes(const AttentionSourcePass<T>& p) {
  return {p.heads * (p.key_dim + p.value_dim),
          SAGE_ISA::SourceBlocks<Score, T>::scratch_size(p.heads)};
}

template <Isa kIsa, class Score, class T>
void AttentionSourceEdges<kIsa, Score, T>::push(const AttentionSourcePass<T>& p, Score score,
                                                int64_t row, int64_t begin, int64_t end, A* partial,
                                                A* scratch) {
  SAGE_ISA::SourceBlocks<Score, T>(p, score, scratch).push_edges(row, begin, end, partial);
}

}  // namespace sage
