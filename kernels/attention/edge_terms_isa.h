// Bias, weight and dropout of a block of edges. Per-edge values are [H, kEdgeBlock] arrays: one
// head's edges lie together.
#pragma once

#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/core/edge_tiles.h"
#include "kernels/core/philox.h"

namespace sage::SAGE_ISA {

template <class T>
class BlockTerms {
 public:
  using A = Acc<T>;

  BlockTerms(const EdgeTerms<T>& edge, const CsrView& graph, const EdgeBlock& block, int64_t heads)
      : edge_(edge), count_(block.count), heads_(heads) {
    for (int e = 0; e < count_; ++e) id_[e] = graph.edge_id(block.begin + e);
  }

  int64_t id(int e) const { return id_[e]; }

  void add_bias(A* logit) const {
    if (edge_.bias == nullptr) return;
    for (int e = 0; e < count_; ++e) {
      const T* bias = edge_.bias + id_[e] * heads_;
      for (int64_t h = 0; h < heads_; ++h) logit[h * kEdgeBlock + e] += static_cast<A>(bias[h]);
    }
  }

  void apply_weight(A* value) const {
    if (edge_.weight == nullptr) return;
    const int64_t step = edge_.weight_heads == 1 ? 0 : 1;
    for (int e = 0; e < count_; ++e) {
      const T* weight = edge_.weight + id_[e] * edge_.weight_heads;
      for (int64_t h = 0; h < heads_; ++h) {
        value[h * kEdgeBlock + e] *= static_cast<A>(weight[h * step]);
      }
    }
  }

  // Multiplies by keep / (1 - dropout), with the mask of dropout_keep(): four heads share a draw.
  void apply_dropout(A* value) const {
    if (edge_.dropout == 0) return;
    const Philox philox{static_cast<uint64_t>(*edge_.seed)};
    const uint32_t threshold = dropout_threshold(edge_.dropout);
    const A kept = static_cast<A>(1 / (1 - edge_.dropout));
    for (int64_t first = 0; first < heads_; first += 4) {
      const int64_t last = first + 4 < heads_ ? first + 4 : heads_;
      for (int e = 0; e < count_; ++e) {
        uint32_t words[4];
        philox.draw(static_cast<uint64_t>(first) >> 2, static_cast<uint64_t>(id_[e]), words);
        for (int64_t h = first; h < last; ++h) {
          value[h * kEdgeBlock + e] *= words[h - first] >= threshold ? kept : A{0};
        }
      }
    }
  }

 private:
  const EdgeTerms<T>& edge_;
  int count_;
  int64_t heads_;
  int64_t id_[kEdgeBlock];
};

}  // namespace sage::SAGE_ISA
