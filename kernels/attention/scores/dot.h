// Scaled dot product (Vaswani et al., 2017): logit = scale * (q . k).
#pragma once

#include "kernels/attention/score.h"

namespace sage {

struct DotScore {
  static constexpr const char* kName = "dot";
  static constexpr bool kPerFeature = true;
  static constexpr bool kBilinear = true;
  double scale;

  static DotScore from_param(double param) { return {param}; }

  template <class A>
  SAGE_HD A partial(A q, A k) const {
    return q * k;
  }
  template <class A>
  SAGE_HD A finish(A sum) const {
    return static_cast<A>(scale) * sum;
  }
  template <class A>
  SAGE_HD A finish_grad(A, A dlogit) const {
    return static_cast<A>(scale) * dlogit;
  }
  template <class A>
  SAGE_HD PartialGrad<A> partial_grad(A q, A k, A dsum) const {
    return {dsum * k, dsum * q};
  }
};
static_assert(ScoreFn<DotScore>);

}  // namespace sage
