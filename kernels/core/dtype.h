// Element types of features, their accumulators, and dispatch from a run-time dtype.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/core/dispatch.h"
#include "kernels/core/hd.h"

namespace sage {

// bfloat16 as stored: the upper half of a float32. Rounds to nearest even; NaN stays NaN.
struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  SAGE_HD explicit bfloat16(float x) {
    const uint32_t u = std::bit_cast<uint32_t>(x);
    bits = (u & 0x7fffffffu) > 0x7f800000u
               ? static_cast<uint16_t>((u >> 16) | 0x40u)
               : static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }
  SAGE_HD explicit operator float() const {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
};
static_assert(sizeof(bfloat16) == 2 && alignof(bfloat16) == 2);

// Scores, sums and gradients are accumulated in float32 at least; in float64 for float64 input.
template <class T>
struct Accumulator {
  using type = float;
};
template <>
struct Accumulator<double> {
  using type = double;
};
template <class T>
using Acc = typename Accumulator<T>::type;

enum class DType : int32_t { kFloat32, kFloat64, kBFloat16 };

// Calls f(Type<T>{}) for the element type that `dtype` names.
template <class F>
void dispatch_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kFloat32:
      return f(Type<float>{});
    case DType::kFloat64:
      return f(Type<double>{});
    case DType::kBFloat16:
      return f(Type<bfloat16>{});
  }
  throw Error("unsupported dtype");
}

}  // namespace sage
