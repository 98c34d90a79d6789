// The vector exp2 against the standard library's, in the baseline variant.
#define SAGE_ISA baseline
#include "kernels/core/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace sage {
namespace {

template <class A>
class Exp2 : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Exp2, Types);

TYPED_TEST(Exp2, WithinTwoUlp) {
  using A = TypeParam;
  std::mt19937_64 random(1);
  const A most = std::numeric_limits<A>::max_exponent - 2;
  for (A range : {A{0.5}, A{20}, most}) {
    std::uniform_real_distribution<A> uniform(-range, range);
    for (int i = 0; i < 100000; ++i) {
      const A x = uniform(random);
      const long double expected = std::exp2(static_cast<long double>(x));
      const long double ulp =
          std::nextafter(static_cast<A>(expected), A{INFINITY}) - static_cast<A>(expected);
      ASSERT_LE(std::abs(baseline::exp2_lane(x) - expected), 2 * ulp) << x;
    }
  }
}

TYPED_TEST(Exp2, Limits) {
  using A = TypeParam;
  constexpr A kInf = std::numeric_limits<A>::infinity();
  constexpr int kMost = std::numeric_limits<A>::max_exponent;
  EXPECT_EQ(baseline::exp2_lane(-kInf), A{0});
  EXPECT_EQ(baseline::exp2_lane(kInf), kInf);
  EXPECT_TRUE(std::isnan(baseline::exp2_lane(std::numeric_limits<A>::quiet_NaN())));
  EXPECT_EQ(baseline::exp2_lane(A{0}), A{1});
  EXPECT_EQ(baseline::exp2_lane(static_cast<A>(kMost)), kInf);
  EXPECT_EQ(baseline::exp2_lane(static_cast<A>(1e30)), kInf);
  EXPECT_EQ(baseline::exp2_lane(static_cast<A>(-1e30)), A{0});
  EXPECT_EQ(baseline::exp2_lane(static_cast<A>(kMost - 1)), std::ldexp(A{1}, kMost - 1));
  EXPECT_EQ(baseline::exp2_lane(static_cast<A>(2 - kMost)), std::ldexp(A{1}, 2 - kMost));
}

}  // namespace
}  // namespace sage
