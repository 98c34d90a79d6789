// Softmax over segments on the CPU against the formula in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernels/segment/cpu_segments.h"

namespace sage::cpu_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
class SegmentSoftmaxCpu : public testing::Test {};
using Types = testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(SegmentSoftmaxCpu, Types);

std::vector<double> softmax_truth(const SegmentCase& c, const std::vector<double>& src) {
  std::vector<double> out(src.size());
  for (int64_t s = 0; s < c.num_segments(); ++s) {
    for (int64_t i = 0; i < c.width; ++i) {
      double max = -kInf, sum = 0;
      for (int64_t r = c.begin(s); r < c.end(s); ++r) max = std::fmax(max, src[c.at(r, i)]);
      for (int64_t r = c.begin(s); r < c.end(s); ++r) sum += std::exp(src[c.at(r, i)] - max);
      for (int64_t r = c.begin(s); r < c.end(s); ++r) {
        out[c.at(r, i)] = max == -kInf ? 0 : std::exp(src[c.at(r, i)] - max) / sum;
      }
    }
  }
  return out;
}

template <class T>
std::vector<T> run_softmax(const SegmentCase& c, const std::vector<double>& src,
                           const Executor& executor = {}) {
  std::vector<T> out(src.size(), static_cast<T>(Acc<T>{77}));
  segment_softmax_cpu(c.view<T>(), convert<T>(src).data(), out.data(), executor);
  return out;
}
template <class T>
std::vector<T> run_backward(const SegmentCase& c, const std::vector<double>& grad,
                            const std::vector<double>& out, const Executor& executor = {}) {
  std::vector<T> dsrc(out.size(), static_cast<T>(Acc<T>{77}));
  segment_softmax_backward_cpu(c.view<T>(), convert<T>(grad).data(), convert<T>(out).data(),
                               dsrc.data(), executor);
  return dsrc;
}

TYPED_TEST(SegmentSoftmaxCpu, Forward) {
  using T = TypeParam;
  for (const SegmentCase& c : segment_cases()) {
    auto src = random_values<T>(c.num_rows * c.width, 1);
    for (double& x : src) x *= 64;  // exact, and softmax's maximum must be subtracted exactly
    const auto expected = softmax_truth(c, src);
    for_each_isa([&](const std::string& isa) {
      expect_near(run_softmax<T>(c, src), expected, c.name + ", " + isa);
    });
  }
}

TYPED_TEST(SegmentSoftmaxCpu, Backward) {
  using T = TypeParam;
  for (const SegmentCase& c : segment_cases()) {
    const auto grad = random_values<T>(c.num_rows * c.width, 2);
    const auto out = widen(convert<T>(softmax_truth(c, random_values<T>(c.num_rows * c.width, 1))));
    std::vector<double> expected(grad.size());
    for (int64_t s = 0; s < c.num_segments(); ++s) {
      for (int64_t i = 0; i < c.width; ++i) {
        double dot = 0;
        for (int64_t r = c.begin(s); r < c.end(s); ++r) dot += grad[c.at(r, i)] * out[c.at(r, i)];
        for (int64_t r = c.begin(s); r < c.end(s); ++r) {
          expected[c.at(r, i)] = out[c.at(r, i)] * (grad[c.at(r, i)] - dot);
        }
      }
    }
    for_each_isa([&](const std::string& isa) {
      expect_near(run_backward<T>(c, grad, out), expected, c.name + ", " + isa);
    });
  }
}

TYPED_TEST(SegmentSoftmaxCpu, SameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  for (const SegmentCase& c : segment_cases()) {
    const auto src = random_values<T>(c.num_rows * c.width, 1);
    const auto grad = random_values<T>(c.num_rows * c.width, 2);
    const auto out = run_softmax<T>(c, src);
    const auto dsrc = run_backward<T>(c, grad, widen(out));
    for (int32_t threads : {2, 3}) {
      ThreadPool pool(threads);
      EXPECT_EQ(bytes(run_softmax<T>(c, src, pool.executor())), bytes(out)) << c.name;
      EXPECT_EQ(bytes(run_backward<T>(c, grad, widen(out), pool.executor())), bytes(dsrc))
          << c.name;
    }
  }
}

TYPED_TEST(SegmentSoftmaxCpu, ValuesThatAreNotFinite) {
  using T = TypeParam;
  const int64_t hub = RowPlan::kWork + 9;
  SegmentCase c = make_segments("special", {3, 3, 3, hub, hub});
  auto src = random_values<T>(c.num_rows, 1);
  src[0] = src[1] = src[2] = -kInf;                   // nothing: 0
  src[3] = -kInf;                                     // one of three
  src[6] = std::numeric_limits<double>::quiet_NaN();  // its segment is NaN
  for (int64_t r = 0; r < hub; ++r) src[static_cast<size_t>(9 + r)] = -kInf;
  for (int64_t r = 0; r < RowPlan::kWork; ++r) src[static_cast<size_t>(9 + hub + r)] = -kInf;
  auto expected = softmax_truth(c, src);
  for (size_t i = 6; i < 9; ++i) expected[i] = std::numeric_limits<double>::quiet_NaN();
  for_each_isa([&](const std::string& isa) { expect_near(run_softmax<T>(c, src), expected, isa); });
}

}  // namespace
}  // namespace sage::cpu_test
