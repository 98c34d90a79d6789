// Tests of the softmax monoid: any grouping gives the softmax of all scores, without NaN.
#include "kernels/core/softmax_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace sage {
namespace {

template <class A>
constexpr A kInf = std::numeric_limits<A>::infinity();

template <class A>
class SoftmaxStateTest : public testing::Test {};
using Accumulators = testing::Types<float, double>;
TYPED_TEST_SUITE(SoftmaxStateTest, Accumulators);

// A state with one score, in log2.
template <class A>
SoftmaxState<A> single(A score) {
  return {score, score == -kInf<A> ? A{0} : A{1}};
}

template <class A>
double reference_lse(const std::vector<A>& log2_scores) {
  double top = -kInf<double>, sum = 0;
  for (A s : log2_scores) top = std::max(top, static_cast<double>(s));
  if (top == -kInf<double>) return top;
  for (A s : log2_scores) sum += std::exp2(static_cast<double>(s) - top);
  return (top + std::log2(sum)) * std::log(2.0);
}

TYPED_TEST(SoftmaxStateTest, MergesInAnyGrouping) {
  std::mt19937 random(1);
  std::uniform_real_distribution<TypeParam> score(-200, 200);
  for (int n : {1, 2, 3, 17, 100}) {
    std::vector<TypeParam> scores(static_cast<size_t>(n));
    for (TypeParam& s : scores) s = random() % 5 == 0 ? -kInf<TypeParam> : score(random);
    SoftmaxState<TypeParam> left;
    std::vector<SoftmaxState<TypeParam>> tree;
    for (TypeParam s : scores) {
      left.merge(single(s));
      tree.push_back(single(s));
    }
    while (tree.size() > 1) {
      std::vector<SoftmaxState<TypeParam>> next;
      for (size_t i = 0; i < tree.size(); i += 2) {
        next.push_back(tree[i]);
        if (i + 1 < tree.size()) next.back().merge(tree[i + 1]);
      }
      tree = next;
    }
    const double expected = reference_lse(scores);
    const double tolerance = 1e-5 * std::max(1.0, std::abs(expected));
    if (std::isinf(expected)) {
      EXPECT_EQ(left.log_sum_exp(), -kInf<TypeParam>);
      EXPECT_EQ(tree[0].log_sum_exp(), -kInf<TypeParam>);
    } else {
      EXPECT_NEAR(left.log_sum_exp(), expected, tolerance);
      EXPECT_NEAR(tree[0].log_sum_exp(), expected, tolerance);
    }
  }
}

TYPED_TEST(SoftmaxStateTest, NothingAndMinusInfinityMergeWithoutNan) {
  SoftmaxState<TypeParam> state;
  EXPECT_EQ(state.log_sum_exp(), -kInf<TypeParam>);
  auto r = state.merge({});
  EXPECT_EQ(r.self, TypeParam{0});
  EXPECT_EQ(r.other, TypeParam{0});
  EXPECT_EQ(state.sum, TypeParam{0});
  state.merge(single(-kInf<TypeParam>));
  EXPECT_EQ(state.log_sum_exp(), -kInf<TypeParam>);
  r = state.merge(single(TypeParam{3}));
  EXPECT_EQ(r.self, TypeParam{0});
  EXPECT_EQ(r.other, TypeParam{1});
  r = state.merge({});
  EXPECT_EQ(r.self, TypeParam{1});
  EXPECT_EQ(state.max, TypeParam{3});
  EXPECT_EQ(state.sum, TypeParam{1});
}

TYPED_TEST(SoftmaxStateTest, RescaleBringsOldSumsToTheNewMaximum) {
  SoftmaxState<TypeParam> state{TypeParam{1}, TypeParam{2}};
  const auto r = state.merge({TypeParam{4}, TypeParam{1}});
  EXPECT_EQ(r.self, TypeParam{0.125});
  EXPECT_EQ(r.other, TypeParam{1});
  EXPECT_EQ(state.max, TypeParam{4});
  EXPECT_EQ(state.sum, TypeParam{1.25});
}

TYPED_TEST(SoftmaxStateTest, NanStaysNan) {
  const TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  SoftmaxState<TypeParam> state = single(TypeParam{0});
  state.merge({TypeParam{0}, nan});
  EXPECT_TRUE(std::isnan(state.log_sum_exp()));
}

}  // namespace
}  // namespace sage
