// Sum, mean, max and min over segments on the CPU against the formula in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/kernels/segment/cpu_segments.h"

namespace sage::cpu_test {
namespace {

constexpr Reduce kAll[] = {Reduce::kSum, Reduce::kMean, Reduce::kMax, Reduce::kMin};

bool has_arg(Reduce reduce) { return reduce == Reduce::kMax || reduce == Reduce::kMin; }

template <class T>
class SegmentReduceCpu : public testing::Test {};
using Types = testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(SegmentReduceCpu, Types);

template <class V>
struct Reduced {
  std::vector<V> out;
  std::vector<int64_t> arg;
};

Reduced<double> reduce_truth(const SegmentCase& c, Reduce reduce, const std::vector<double>& src) {
  Reduced<double> t;
  for (int64_t s = 0; s < c.num_segments(); ++s) {
    for (int64_t i = 0; i < c.width; ++i) {
      double sum = 0;
      int64_t arg = -1;
      for (int64_t r = c.begin(s); r < c.end(s); ++r) {
        const double x = src[c.at(r, i)], best = arg < 0 ? 0 : src[c.at(arg, i)];
        sum += x;
        const bool better = reduce == Reduce::kMax ? x > best : x < best;
        if (arg < 0 || better || (std::isnan(x) && !std::isnan(best))) arg = r;
      }
      const auto length = static_cast<double>(c.end(s) - c.begin(s));
      if (has_arg(reduce)) sum = arg < 0 ? 0 : src[c.at(arg, i)];
      t.out.push_back(reduce == Reduce::kMean && length > 0 ? sum / length : sum);
      t.arg.push_back(arg);
    }
  }
  return t;
}

template <class T>
Reduced<T> run_reduce(const SegmentCase& c, Reduce reduce, const std::vector<double>& src,
                      const Executor& executor = {}) {
  Reduced<T> r;
  r.out.resize(static_cast<size_t>(c.num_segments() * c.width), static_cast<T>(Acc<T>{77}));
  r.arg.resize(has_arg(reduce) ? r.out.size() : 0, 77);
  segment_reduce_cpu(c.view<T>(), reduce, convert<T>(src).data(), r.out.data(), r.arg.data(),
                     executor);
  return r;
}
template <class T>
std::vector<T> run_backward(const SegmentCase& c, Reduce reduce, const std::vector<double>& grad,
                            const std::vector<int64_t>& arg, const Executor& executor = {}) {
  std::vector<T> dsrc(static_cast<size_t>(c.num_rows * c.width), static_cast<T>(Acc<T>{77}));
  segment_reduce_backward_cpu(c.view<T>(), reduce, convert<T>(grad).data(), arg.data(), dsrc.data(),
                              executor);
  return dsrc;
}

TYPED_TEST(SegmentReduceCpu, Forward) {
  using T = TypeParam;
  for (const SegmentCase& c : segment_cases()) {
    auto src = random_values<T>(c.num_rows * c.width, 1);
    for (size_t i = 0; i < src.size(); i += 3) src[i] = std::round(2 * src[i]);  // ties
    for (Reduce reduce : kAll) {
      const auto expected = reduce_truth(c, reduce, src);
      for_each_isa([&](const std::string& isa) {
        const Reduced<T> actual = run_reduce<T>(c, reduce, src);
        expect_near(actual.out, expected.out, c.name + ", " + isa);
        if (has_arg(reduce)) {
          EXPECT_EQ(actual.arg, expected.arg) << c.name << ", " << isa;
        }
      });
    }
  }
}

TYPED_TEST(SegmentReduceCpu, Backward) {
  using T = TypeParam;
  for (const SegmentCase& c : segment_cases()) {
    const auto src = random_values<T>(c.num_rows * c.width, 1);
    const auto grad = random_values<T>(c.num_segments() * c.width, 2);
    for (Reduce reduce : kAll) {
      const auto arg = reduce_truth(c, reduce, src).arg;
      std::vector<double> expected(src.size());
      for (int64_t s = 0; s < c.num_segments(); ++s) {
        for (int64_t r = c.begin(s); r < c.end(s); ++r) {
          for (int64_t i = 0; i < c.width; ++i) {
            const double g = grad[c.at(s, i)];
            const auto length = static_cast<double>(c.end(s) - c.begin(s));
            expected[c.at(r, i)] = has_arg(reduce)           ? (arg[c.at(s, i)] == r ? g : 0)
                                   : reduce == Reduce::kMean ? g / length
                                                             : g;
          }
        }
      }
      expect_near(run_backward<T>(c, reduce, grad, arg), expected, c.name);
    }
  }
}

TYPED_TEST(SegmentReduceCpu, SameBitsOnAnyNumberOfThreads) {
  using T = TypeParam;
  for (const SegmentCase& c : segment_cases()) {
    const auto src = random_values<T>(c.num_rows * c.width, 1);
    const auto grad = random_values<T>(c.num_segments() * c.width, 2);
    for (Reduce reduce : kAll) {
      const Reduced<T> out = run_reduce<T>(c, reduce, src);
      const std::vector<T> dsrc = run_backward<T>(c, reduce, grad, out.arg);
      for (int32_t threads : {2, 3}) {
        ThreadPool pool(threads);
        const Reduced<T> actual = run_reduce<T>(c, reduce, src, pool.executor());
        EXPECT_EQ(bytes(actual.out), bytes(out.out)) << c.name;
        EXPECT_EQ(actual.arg, out.arg) << c.name;
        EXPECT_EQ(bytes(run_backward<T>(c, reduce, grad, out.arg, pool.executor())), bytes(dsrc))
            << c.name;
      }
    }
  }
}

// The first of equals wins, -inf wins over nothing, and NaN over all: within a part and beyond.
TYPED_TEST(SegmentReduceCpu, Winners) {
  using T = TypeParam;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const int64_t hub = 2 * RowPlan::kWork + 5;
  SegmentCase c = make_segments("winners", {4, 3, 4, hub, hub});
  std::vector<double> src(static_cast<size_t>(c.num_rows));
  const std::vector<double> head = {1, 2, 2, 1, -kInf, -kInf, -kInf, 1, kNan, 5, kNan};
  std::copy(head.begin(), head.end(), src.begin());
  src[static_cast<size_t>(c.end(4) - 1)] = kNan;
  for_each_isa([&](const std::string& isa) {
    const Reduced<T> max = run_reduce<T>(c, Reduce::kMax, src);
    EXPECT_EQ(max.arg, (std::vector<int64_t>{1, 4, 8, c.begin(3), c.end(4) - 1})) << isa;
    expect_near(max.out, {2, -kInf, kNan, 0, kNan}, isa);
    const Reduced<T> min = run_reduce<T>(c, Reduce::kMin, src);
    EXPECT_EQ(min.arg, (std::vector<int64_t>{0, 4, 8, c.begin(3), c.end(4) - 1})) << isa;
    expect_near(min.out, {1, -kInf, kNan, 0, kNan}, isa);
  });
}

}  // namespace
}  // namespace sage::cpu_test
