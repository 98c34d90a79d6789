// How lanes share rows: which layouts there are, and which one a head size takes.
//
// A group of lanes handles one task for several heads; a head takes kHeadLanes lanes, each of which
// holds kVecs 16-byte vectors of it. kEdges edges are in flight at once.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/dtype.h"
#include "kernels/core/vec.cuh"

namespace sage {

template <int kHeadLanesValue, int kVecsValue = 1>
struct Lanes {
  static constexpr int kHeadLanes = kHeadLanesValue;
  static constexpr int kVecs = kVecsValue;
  static constexpr int kEdges = kVecs == 1 ? 4 : kVecs == 2 ? 2 : 1;
  // After a reduce-scatter each lane owns kOwned of the kEdges edges for its head: edge
  // o * kScatter + lane % kScatter. Lanes of a head that are kScatter apart own the same.
  static constexpr int kScatter = std::min(kHeadLanes, kEdges);
  static constexpr int kOwned = kEdges / kScatter;
  static constexpr int kCapacity = kHeadLanes * kVecs;  // vectors a head
};

template <class... L>
struct LaneList {};

// Layouts by element type, smallest first; float64 serves gradient checks and has few. Each costs
// the build some seconds a score.
template <class T>
struct LaneLists;
template <>
struct LaneLists<bfloat16> {
  using type = LaneList<Lanes<1>, Lanes<2>, Lanes<4>, Lanes<8>, Lanes<16>, Lanes<32>, Lanes<32, 2>>;
};
template <>
struct LaneLists<float> {
  using type = LaneList<Lanes<1>, Lanes<2>, Lanes<4>, Lanes<8>, Lanes<16>, Lanes<32>, Lanes<32, 2>,
                        Lanes<32, 4>>;
};
template <>
struct LaneLists<double> {
  using type = LaneList<Lanes<4>, Lanes<32>, Lanes<32, 8>>;
};

inline constexpr int64_t kMaxDim = 512;

template <class F, class First, class... Rest>
void pick_lanes(LaneList<First, Rest...>, int64_t vecs, F&& f) {
  if constexpr (sizeof...(Rest) > 0) {
    if (vecs > First::kCapacity) return pick_lanes(LaneList<Rest...>{}, vecs, f);
  }
  f(First{});
}

// Calls f(L{}) with the smallest layout that holds a head of `dim` elements of T.
template <class T, class F>
void with_lanes(int64_t dim, F&& f) {
  pick_lanes(typename LaneLists<T>::type{}, dim / kVec<T>, f);
}

// Blocks of a multiprocessor that registers must leave room for: 4 are 128 registers a thread, 3
// are 168, 2 are 255. Spilling costs more than fewer warps, and more warps than that gain nothing.
template <class T, class L, bool kEdgeTerms>
inline constexpr int kMinBlocks = sizeof(T) == 8                                  ? 2
                                  : L::kVecs > 1 || (kEdgeTerms && L::kOwned > 1) ? 3
                                                                                  : 4;

}  // namespace sage
