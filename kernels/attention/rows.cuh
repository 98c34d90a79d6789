// Rows of features as 16-byte vectors, spread over the lanes of a head.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/attention/group.cuh"
#include "kernels/core/vec.cuh"

namespace sage {

// kVecs vectors of T, unpacked.
template <class T, class L>
using Unpacked = Acc<T>[L::kVecs][kVec<T>];

// Rows [heads, dim] of T as vectors; made on the host.
struct RowShape {
  uint32_t vecs = 0;   // of a head
  uint32_t pitch = 0;  // bytes a row
};
template <class T>
RowShape make_shape(int64_t heads, int64_t dim) {
  return {static_cast<uint32_t>(dim / kVec<T>),
          static_cast<uint32_t>(heads * dim * static_cast<int64_t>(sizeof(T)))};
}

// This lane's vectors of rows. A vector beyond the head's end is read from a valid place of the
// same row and counts for nothing.
template <class T, class L>
struct RowSpan {
  uint32_t pitch;            // bytes a row
  uint32_t first;            // byte offset of the first vector in the row
  uint32_t steps[L::kVecs];  // byte offsets from there
  uint32_t part, vecs;

  __device__ RowSpan(const Place<L>& p, const RowShape& shape)
      : pitch(shape.pitch), part(p.part), vecs(shape.vecs) {
    const uint32_t mine = min(part, vecs - 1);
    first = (p.head * vecs + mine) * 16;
    steps[0] = 0;
#pragma unroll
    for (int r = 1; r < L::kVecs; ++r) {
      steps[r] = (min(r * L::kHeadLanes + part, vecs - 1) - mine) * 16;
    }
  }
  __device__ bool has(int r) const { return r * L::kHeadLanes + part < vecs; }
  // Where row 0 starts for this lane.
  __device__ const char* origin(const T* table) const {
    const char* p = reinterpret_cast<const char*>(table) + first;
    pin(p);
    return p;
  }
  __device__ void load(const char* origin, uint32_t row, uint4 (&x)[L::kVecs]) const {
    const char* p = origin + uint64_t{row} * pitch;
#pragma unroll
    for (int r = 0; r < L::kVecs; ++r) x[r] = load16(p + steps[r]);
  }
  __device__ void load_unpacked(const T* table, uint32_t row, Unpacked<T, L>& x) const {
    uint4 packed[L::kVecs];
    load(origin(table), row, packed);
#pragma unroll
    for (int r = 0; r < L::kVecs; ++r) {
      unpack<T>(packed[r], x[r]);
#pragma unroll
      for (int i = 0; i < kVec<T>; ++i) pin(x[r][i]);
    }
  }
  __device__ void store(T* table, uint32_t row, const Unpacked<T, L>& x, Acc<T> factor) const {
    char* p = reinterpret_cast<char*>(table) + first + uint64_t{row} * pitch;
#pragma unroll
    for (int r = 0; r < L::kVecs; ++r) {
      if (has(r)) store16<T>(reinterpret_cast<T*>(p + steps[r]), x[r], factor);
    }
  }
  // To a row of accumulators, of which no alignment is known.
  __device__ void store_partial(Acc<T>* row, const Unpacked<T, L>& x) const {
#pragma unroll
    for (int r = 0; r < L::kVecs; ++r) {
      Acc<T>* p = row + (first + steps[r]) / sizeof(T);
#pragma unroll
      for (int i = 0; i < kVec<T>; ++i) {
        if (has(r)) p[i] = x[r][i];
      }
    }
  }
};

template <class T, class L>
__device__ inline void set_zero(Unpacked<T, L>& x) {
#pragma unroll
  for (int r = 0; r < L::kVecs; ++r) {
#pragma unroll
    for (int i = 0; i < kVec<T>; ++i) x[r][i] = 0;
  }
}

// This lane's part of sum over c of combine(mine[c], gathered[c]).
template <class T, class L, class F>
__device__ inline Acc<T> partial_sum(const RowSpan<T, L>& span, const Unpacked<T, L>& mine,
                                     const uint4 (&gathered)[L::kVecs], F&& combine) {
  Acc<T> total = 0;
#pragma unroll
  for (int r = 0; r < L::kVecs; ++r) {
    Acc<T> x[kVec<T>], sum = 0;
    unpack<T>(gathered[r], x);
#pragma unroll
    for (int i = 0; i < kVec<T>; ++i) sum += combine(mine[r][i], x[i]);
    sum = span.has(r) ? sum : Acc<T>{0};
    total = r == 0 ? sum : total + sum;
  }
  return total;
}

// unpack for the second use of a gathered vector, in other instructions than the first: otherwise
// the compiler would hold the unpacked copies in between, for which there are no registers.
template <class T>
__device__ inline void unpack_again(uint4 a, Acc<T> (&x)[kVec<T>]) {
  unpack<T>(a, x);
}
template <>
__device__ inline void unpack_again<bfloat16>(uint4 a, float (&x)[8]) {
  const uint32_t w[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = __uint_as_float(__byte_perm(w[i], 0, 0x1044));
    x[2 * i + 1] = __uint_as_float(__byte_perm(w[i], 0, 0x3244));
  }
}

// sums[c] += term(c, gathered[c]); c as vector and element. kAgain: `gathered` was unpacked before.
template <class T, class L, bool kAgain, class F>
__device__ inline void accumulate(Unpacked<T, L>& sums, const uint4 (&gathered)[L::kVecs],
                                  F&& term) {
#pragma unroll
  for (int r = 0; r < L::kVecs; ++r) {
    Acc<T> x[kVec<T>];
    if constexpr (kAgain) {
      unpack_again<T>(gathered[r], x);
    } else {
      unpack<T>(gathered[r], x);
    }
#pragma unroll
    for (int i = 0; i < kVec<T>; ++i) sums[r][i] += term(r, i, x[i]);
  }
}

template <class T>
__device__ inline Acc<T> load_one(const T* p) {
  return static_cast<Acc<T>>(__ldg(p));
}
template <>
__device__ inline float load_one<bfloat16>(const bfloat16* p) {
  return __uint_as_float(uint32_t{__ldg(reinterpret_cast<const unsigned short*>(p))} << 16);
}

}  // namespace sage
