// Tests of element types: rounding of bfloat16, accumulators and dispatch.
#include "kernels/core/dtype.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

namespace sage {
namespace {

float round_trip(float x) { return static_cast<float>(bfloat16(x)); }

TEST(Bfloat16, EveryValueSurvives) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    bfloat16 x;
    x.bits = static_cast<uint16_t>(bits);
    const float f = static_cast<float>(x);
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(round_trip(f)));
    } else {
      EXPECT_EQ(bfloat16(f).bits, bits);
    }
  }
}

// The nearest of the two neighbours, by distance; the one with an even last bit when tied.
TEST(Bfloat16, RoundsToNearestEven) {
  std::mt19937 random(2);
  for (int i = 0; i < 100000; ++i) {
    const uint32_t bits = i < 1000 ? (0x3f800000u + static_cast<uint32_t>(i) * 0x800u)
                                   : static_cast<uint32_t>(random());
    const float x = std::bit_cast<float>(bits);
    bfloat16 below, above;
    below.bits = static_cast<uint16_t>(bits >> 16);
    above.bits = static_cast<uint16_t>(below.bits + 1);
    const double low = static_cast<float>(below), high = static_cast<float>(above);
    if (!std::isfinite(x) || !std::isfinite(high)) continue;
    const double to_low = std::abs(x - low), to_high = std::abs(high - x);
    const bool take_low = to_low < to_high || (to_low == to_high && below.bits % 2 == 0);
    EXPECT_EQ(bfloat16(x).bits, take_low ? below.bits : above.bits) << x;
  }
}

TEST(Bfloat16, SpecialValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(round_trip(kInf), kInf);
  EXPECT_EQ(round_trip(-kInf), -kInf);
  EXPECT_EQ(round_trip(std::numeric_limits<float>::max()), kInf);
  EXPECT_TRUE(std::signbit(round_trip(-0.0f)));
  EXPECT_TRUE(std::isnan(round_trip(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(round_trip(std::bit_cast<float>(0x7f800001u))));
}

TEST(Dtype, AccumulatorsAreFloat32AtLeast) {
  EXPECT_TRUE((std::is_same_v<Acc<float>, float>));
  EXPECT_TRUE((std::is_same_v<Acc<double>, double>));
  EXPECT_TRUE((std::is_same_v<Acc<bfloat16>, float>));
}

TEST(Dtype, Dispatch) {
  const auto bytes_of = [](DType dtype) {
    size_t bytes = 0;
    dispatch_dtype(dtype, [&]<class T>(Type<T>) { bytes = sizeof(T); });
    return bytes;
  };
  EXPECT_EQ(bytes_of(DType::kFloat32), 4u);
  EXPECT_EQ(bytes_of(DType::kFloat64), 8u);
  EXPECT_EQ(bytes_of(DType::kBFloat16), 2u);
  EXPECT_THROW(bytes_of(static_cast<DType>(99)), Error);
}

}  // namespace
}  // namespace sage
