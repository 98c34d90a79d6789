// An edge's own terms on the device: bias, weight and dropout, read by the lane that owns the edge.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/attention/attention.h"
#include "kernels/attention/rows.cuh"
#include "kernels/core/check.h"
#include "kernels/core/philox.h"

namespace sage {

template <class T>
struct EdgeArgs {
  EdgeTerms<T> terms;
  bool drop = false;
  uint32_t threshold = 0;
  Acc<T> keep_scale = 1;  // 1 / (1 - dropout)

  explicit EdgeArgs(const EdgeTerms<T>& t) : terms(t), drop(t.dropout > 0) {
    if (!drop) return;
    check(t.dropout < 1 && t.seed != nullptr, [&] {
      return "dropout = " + std::to_string(t.dropout) +
             " needs a value below 1 and a seed on the device";
    });
    threshold = dropout_threshold(t.dropout);
    keep_scale = static_cast<Acc<T>>(1 / (1 - t.dropout));
  }
  bool any() const { return drop || terms.bias != nullptr || terms.weight != nullptr; }
};

// Terms of one edge and head: what is added to the logit, and what multiplies the attention.
template <class A>
struct OwnedTerms {
  A bias, weight, keep;
};

template <bool kEdgeTerms, class T>
__device__ inline OwnedTerms<Acc<T>> load_terms(const EdgeArgs<T>& e, uint64_t seed, int64_t id,
                                                int32_t head, int32_t heads) {
  OwnedTerms<Acc<T>> x{0, 1, 1};
  if constexpr (kEdgeTerms) {
    if (e.terms.bias != nullptr) x.bias = load_one(e.terms.bias + id * heads + head);
    if (e.terms.weight != nullptr) {
      const int64_t wide = e.terms.weight_heads;
      x.weight = load_one(e.terms.weight + id * wide + (wide == 1 ? 0 : head));
    }
    if (e.drop) x.keep = dropout_keep(seed, id, head, e.threshold) ? e.keep_scale : Acc<T>{0};
  }
  return x;
}

template <bool kEdgeTerms, class T>
__device__ inline uint64_t load_seed(const EdgeArgs<T>& e) {
  return kEdgeTerms && e.drop ? static_cast<uint64_t>(*e.terms.seed) : 0;
}

}  // namespace sage
