// exp2 for *_isa.cpp files: branch-free, so that a loop over it becomes vector code.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/core/dtype.h"

namespace sage::SAGE_ISA {

inline constexpr double kLog2E = 1.442695040888963407360;
inline constexpr double kLn2 = 0.693147180559945309417;

// 2^x within 2 ulp for every result that is a normal number; 0 for -inf, inf for +inf, NaN for NaN.
// x = n + f with |f| <= 1/2; 2^n is applied in two halves, since n may leave the exponent's range.
inline float exp2_lane(float x) {
  constexpr float kShifter = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  x = x < -160.0f ? -160.0f : x;
  x = x > 160.0f ? 160.0f : x;
  const float shifted = x + kShifter;
  const float f = x - (shifted - kShifter);
  float y = 1.535336188319500e-4f;  // minimax polynomial (Cephes exp2f)
  y = y * f + 1.339887440266574e-3f;
  y = y * f + 9.618437357674640e-3f;
  y = y * f + 5.550332471162809e-2f;
  y = y * f + 2.402264791363012e-1f;
  y = y * f + 6.931472028550421e-1f;
  y = y * f + 1.0f;
  const uint32_t n = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kShifter) + 512u;
  const uint32_t half = n >> 1;
  return y * std::bit_cast<float>((half - 256u + 127u) << 23) *
         std::bit_cast<float>((n - half - 256u + 127u) << 23);
}

inline double exp2_lane(double x) {
  constexpr double kShifter = 6755399441055744.0;  // 1.5 * 2^52
  x = x < -1100.0 ? -1100.0 : x;
  x = x > 1100.0 ? 1100.0 : x;
  const double shifted = x + kShifter;
  const double f = (x - (shifted - kShifter)) * kLn2;
  double y = 1.0 / 6227020800.0;  // Taylor series of exp: |f| < 0.35, the remainder is below 1e-17
  y = y * f + 1.0 / 479001600.0;
  y = y * f + 1.0 / 39916800.0;
  y = y * f + 1.0 / 3628800.0;
  y = y * f + 1.0 / 362880.0;
  y = y * f + 1.0 / 40320.0;
  y = y * f + 1.0 / 5040.0;
  y = y * f + 1.0 / 720.0;
  y = y * f + 1.0 / 120.0;
  y = y * f + 1.0 / 24.0;
  y = y * f + 1.0 / 6.0;
  y = y * f + 0.5;
  y = y * f + 1.0;
  y = y * f + 1.0;
  const uint64_t n = std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(kShifter) + 4096u;
  const uint64_t half = n >> 1;
  return y * std::bit_cast<double>((half - 2048u + 1023u) << 52) *
         std::bit_cast<double>((n - half - 2048u + 1023u) << 52);
}

}  // namespace sage::SAGE_ISA
