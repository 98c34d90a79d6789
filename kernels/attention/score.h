// What a score is: logit(i, j) = finish(sum over c of partial(q[i, c], k[j, c])).
#pragma once

#include <concepts>

#include "kernels/core/hd.h"

namespace sage {

template <class A>
struct PartialGrad {
  A dq, dk;
};

// kPerFeature: q and k are [N, heads, key_dim] and combined feature by feature; otherwise key_dim
// is 1, one number a node and head. kBilinear: partial is q * k, so that the gradient of q is a
// weighted sum of k and needs no recomputation. `param` is the score's one number (a scale, a
// slope).
template <class S>
concept ScoreFn = requires(const S s, float x, double y) {
  { S::kName } -> std::convertible_to<const char*>;
  { S::kPerFeature } -> std::convertible_to<bool>;
  { S::kBilinear } -> std::convertible_to<bool>;
  { S::from_param(y) } -> std::same_as<S>;
  { s.partial(x, x) } -> std::same_as<float>;
  { s.partial(y, y) } -> std::same_as<double>;
  { s.finish(x) } -> std::same_as<float>;
  { s.finish_grad(x, x) } -> std::same_as<float>;
  { s.partial_grad(x, x, x) } -> std::same_as<PartialGrad<float>>;
};

}  // namespace sage
