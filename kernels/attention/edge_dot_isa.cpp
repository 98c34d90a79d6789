// Dot products of gathered rows (edge_dot) and of matching rows (attention_delta).
#include <cstdint>

#include "kernels/attention/edges.h"
#include "kernels/core/edge_tiles.h"

namespace sage {
namespace SAGE_ISA {
namespace {

template <class T>
Acc<T> dot(const T* x, const T* y, int64_t dim) {
  using A = Acc<T>;
  A sum = 0;
  for_tiles<A>(dim, [&](auto width, int64_t c) {
    A lanes[width];
#pragma omp simd
    for (int l = 0; l < width; ++l) {
      lanes[l] = static_cast<A>(x[c + l]) * static_cast<A>(y[c + l]);
    }
    sum += fold_lanes<width>(lanes, [](A a, A b) { return a + b; });
  });
  return sum;
}

}  // namespace
}  // namespace SAGE_ISA

template <Isa kIsa, class T>
void EdgeDotEdges<kIsa, T>::push(const EdgeDot<T>& p, int64_t row, int64_t begin, int64_t end) {
  const int64_t stride = p.heads * p.dim;
  for (int64_t e = begin; e < end; ++e) {
    const T* x = p.x + row * stride;
    const T* y = p.y + p.graph.indices[e] * stride;
    for (int64_t h = 0; h < p.heads; ++h) {
      p.out[e * p.heads + h] = static_cast<T>(SAGE_ISA::dot(x + h * p.dim, y + h * p.dim, p.dim));
    }
  }
}

template <Isa kIsa, class T>
void AttentionDelta<kIsa, T>::run(int64_t begin, int64_t end, int64_t value_dim, const T* grad,
                                  const T* out, const Acc<T>* lse, Acc<T>* lse_delta) {
  for (int64_t i = begin; i < end; ++i) {
    lse_delta[2 * i] = lse[i];
    lse_delta[2 * i + 1] = SAGE_ISA::dot(grad + i * value_dim, out + i * value_dim, value_dim);
  }
}

template struct EdgeDotEdges<Isa::SAGE_ISA, float>;
template struct EdgeDotEdges<Isa::SAGE_ISA, double>;
template struct EdgeDotEdges<Isa::SAGE_ISA, bfloat16>;
template struct AttentionDelta<Isa::SAGE_ISA, float>;
template struct AttentionDelta<Isa::SAGE_ISA, double>;
template struct AttentionDelta<Isa::SAGE_ISA, bfloat16>;

}  // namespace sage
