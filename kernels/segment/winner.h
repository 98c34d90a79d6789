// The element that a maximum comes from, and who wins.
#pragma once

#include <cstdint>

namespace sage {

template <class A>
struct Winner {
  A value = 0;
  int64_t position = -1;  // of the edge or row it comes from; -1: nothing seen
};

// Whether `x`, which comes later, takes the place of `best`: the first of equals stays, and NaN
// beats everything, as in torch.amax.
template <class A>
inline bool beats(A x, A best) {
  return x > best || (x != x && best == best);
}

template <class A>
void merge_winner(Winner<A>& into, const Winner<A>& later) {
  if (into.position < 0 || (later.position >= 0 && beats(later.value, into.value))) into = later;
}

}  // namespace sage
