// 16-byte vector access to rows of features, unpacked to accumulators. Rows must be 16-byte
// aligned.
#pragma once

#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/core/dtype.h"

namespace sage {

// Elements of T in one 16-byte access.
template <class T>
inline constexpr int kVec = 16 / static_cast<int>(sizeof(T));

// Volatile keeps all loads of an iteration ahead of its arithmetic: bytes in flight decide the
// speed.
__device__ inline uint4 load16(const void* p) {
  uint4 a;
  asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3},[%4];"
               : "=r"(a.x), "=r"(a.y), "=r"(a.z), "=r"(a.w)
               : "l"(p)
               : "memory");
  return a;
}

// Unpacks 16 bytes of T.
template <class T>
__device__ inline void unpack(uint4 a, Acc<T> (&x)[kVec<T>]);

template <>
__device__ inline void unpack<float>(uint4 a, float (&x)[4]) {
  x[0] = __uint_as_float(a.x), x[1] = __uint_as_float(a.y);
  x[2] = __uint_as_float(a.z), x[3] = __uint_as_float(a.w);
}
template <>
__device__ inline void unpack<double>(uint4 a, double (&x)[2]) {
  x[0] = __hiloint2double(static_cast<int>(a.y), static_cast<int>(a.x));
  x[1] = __hiloint2double(static_cast<int>(a.w), static_cast<int>(a.z));
}
template <>
__device__ inline void unpack<bfloat16>(uint4 a, float (&x)[8]) {
  const uint32_t w[4] = {a.x, a.y, a.z, a.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = __uint_as_float(w[i] << 16);
    x[2 * i + 1] = __uint_as_float(w[i] & 0xffff0000u);
  }
}

template <class T>
__device__ inline T round_to(Acc<T> x) {
  return static_cast<T>(x);
}
template <>
__device__ inline bfloat16 round_to<bfloat16>(float x) {
  bfloat16 y;
  y.bits = __bfloat16_as_ushort(__float2bfloat16_rn(x));
  return y;
}

// Stores x * factor as 16 bytes of T.
template <class T>
__device__ inline void store16(T* p, const Acc<T> (&x)[kVec<T>], Acc<T> factor) {
  alignas(16) T y[kVec<T>];
#pragma unroll
  for (int i = 0; i < kVec<T>; ++i) y[i] = round_to<T>(x[i] * factor);
  *reinterpret_cast<uint4*>(p) = *reinterpret_cast<const uint4*>(y);
}

}  // namespace sage
