// Additive score (GAT, Velickovic et al., ICLR 2018): logit = leaky_relu(a_dst[i] + a_src[j]).
#pragma once

#include "kernels/attention/score.h"

namespace sage {

struct GatScore {
  static constexpr const char* kName = "gat";
  static constexpr bool kPerFeature = false;
  static constexpr bool kBilinear = false;
  double negative_slope;

  static GatScore from_param(double param) { return {param}; }

  template <class A>
  SAGE_HD A partial(A q, A k) const {
    return q + k;
  }
  template <class A>
  SAGE_HD A finish(A sum) const {
    return sum > 0 ? sum : static_cast<A>(negative_slope) * sum;
  }
  template <class A>
  SAGE_HD A finish_grad(A sum, A dlogit) const {
    return sum > 0 ? dlogit : static_cast<A>(negative_slope) * dlogit;
  }
  template <class A>
  SAGE_HD PartialGrad<A> partial_grad(A, A, A dsum) const {
    return {dsum, dsum};
  }
};
static_assert(ScoreFn<GatScore>);

}  // namespace sage
