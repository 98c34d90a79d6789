// The softmax of a stream of scores as a monoid {max, sum}: push one score or merge two states in
// any grouping, and the result is the softmax of all of them. Scores are in units of log2, so that
// exp2 does the work. Empty and all -inf states have sum 0 and merge without NaN.
#pragma once

#include <cmath>
#include <limits>

#include "kernels/core/hd.h"

namespace sage {

template <class A>
struct SoftmaxState {
  A max = -std::numeric_limits<A>::infinity();
  A sum = 0;

  // exp2(x - max): 0 while nothing finite was seen, so that (-inf) - (-inf) never makes a NaN.
  SAGE_HD A weight(A x) const {
    using std::exp2;  // the float overload, on the host too
    return x == -std::numeric_limits<A>::infinity() ? A{0} : exp2(x - max);
  }
  // Factors by which what was accumulated under *this and under `other` is to be multiplied.
  struct Rescale {
    A self, other;
  };
  SAGE_HD Rescale merge(const SoftmaxState& other) {
    const SoftmaxState old = *this;
    max = other.max > old.max ? other.max : old.max;
    const Rescale r{weight(old.max), weight(other.max)};
    sum = old.sum * r.self + other.sum * r.other;
    return r;
  }
  // Natural-log sum-exp of everything seen; -inf when that was nothing.
  SAGE_HD A log_sum_exp() const {
    using std::log2;
    return sum > 0 ? (max + log2(sum)) * static_cast<A>(0.693147180559945309417)
                   : (sum == 0 ? -std::numeric_limits<A>::infinity() : sum);
  }
};

}  // namespace sage
