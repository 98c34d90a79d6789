// Segment sum, mean, max and min on CUDA, forward and backward, against their formulas in double.
#include <cmath>
#include <limits>

#include "kernels/segment/segment.h"
#include "tests/kernels/segment/segment_cases.cuh"

namespace sage {
namespace {

using namespace sage::segment::testing;

template <class T>
using SegmentReduceCuda = CudaTest<T>;
TYPED_TEST_SUITE(SegmentReduceCuda, ElementTypes);

constexpr Reduce kReductions[] = {Reduce::kSum, Reduce::kMean, Reduce::kMax, Reduce::kMin};

template <class T>
struct Result {
  std::vector<T> out;
  std::vector<int64_t> arg;
};

template <class T>
Result<T> reduce(const SegmentCase& c, int64_t width, Reduce reduce, const std::vector<T>& src) {
  const int64_t count = (static_cast<int64_t>(c.indptr.size()) - 1) * width;
  const DeviceArray<int64_t> indptr(c.indptr), arg(std::vector<int64_t>(count, 77));
  const DeviceArray<T> device_src(src), out(filled<T>(count, [](int64_t) { return 7; }));
  segment_reduce_cuda(c.view<T>(indptr, width), reduce, device_src.get(), out.get(), arg.get(),
                      nullptr);
  return {out.host(), arg.host()};
}

template <class T>
std::vector<T> backward(const SegmentCase& c, int64_t width, Reduce reduce,
                        const std::vector<T>& grad, const std::vector<int64_t>& arg) {
  const DeviceArray<int64_t> indptr(c.indptr), device_arg(arg);
  const DeviceArray<T> device_grad(grad);
  const DeviceArray<T> dsrc(filled<T>(c.num_rows * width, [](int64_t) { return 7; }));
  segment_reduce_backward_cuda(c.view<T>(indptr, width), reduce, device_grad.get(),
                               device_arg.get(), dsrc.get(), nullptr);
  return dsrc.host();
}

template <class T>
void expect_formula(const SegmentCase& c, int64_t width, Reduce kind) {
  const std::vector<T> src = filled<T>(c.num_rows * width, exact_value);
  const auto segments = static_cast<int64_t>(c.indptr.size()) - 1;
  const std::vector<T> grad =
      filled<T>(segments * width, [](int64_t i) { return exact_value(i + 3); });
  const Result<T> got = reduce(c, width, kind, src);
  const std::vector<T> dsrc = backward(c, width, kind, grad, got.arg);
  std::vector<double> want_dsrc(src.size());
  for (int64_t s = 0; s < segments; ++s) {
    for (int64_t f = 0; f < width; ++f) {
      double sum = 0, best = 0;
      int64_t winner = -1;
      const int64_t begin = c.indptr[s], end = c.indptr[s + 1];
      for (int64_t r = begin; r < end; ++r) {
        const double x = exact_value(r * width + f);
        sum += x;
        if (winner < 0 || (kind == Reduce::kMax ? x > best : x < best)) best = x, winner = r;
      }
      const int64_t at = s * width + f;
      const double out = as_double(got.out[at]), g = as_double(grad[at]);
      const auto length = static_cast<double>(end - begin);
      if (kind == Reduce::kSum || kind == Reduce::kMean) {
        const double want = kind == Reduce::kSum || end == begin ? sum : sum / length;
        ASSERT_NEAR(out, want, kEpsilon<T> * std::abs(want)) << at;
        for (int64_t r = begin; r < end; ++r) {
          want_dsrc[r * width + f] = kind == Reduce::kSum ? g : g / length;
        }
      } else {
        ASSERT_EQ(out, best) << at;
        ASSERT_EQ(got.arg[at], winner) << at;
        if (winner >= 0) want_dsrc[winner * width + f] = g;
      }
    }
  }
  for (size_t i = 0; i < want_dsrc.size(); ++i) {
    ASSERT_NEAR(as_double(dsrc[i]), want_dsrc[i], kEpsilon<T> * std::abs(want_dsrc[i])) << i;
  }
}

TYPED_TEST(SegmentReduceCuda, ForwardAndBackward) {
  for (const SegmentCase& c : segment_cases()) {
    for (int64_t width : {1, 3, 8, 32, 33, 100}) {
      for (Reduce kind : kReductions) {
        SCOPED_TRACE(c.name + ", width " + std::to_string(width) + ", reduce " +
                     std::to_string(static_cast<int>(kind)));
        expect_formula<TypeParam>(c, width, kind);
      }
    }
  }
}

TYPED_TEST(SegmentReduceCuda, NanWinsAndInfinityCounts) {
  using T = TypeParam;
  const double kInf = std::numeric_limits<double>::infinity();
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const SegmentCase c = make_segments("special", {4, 2, 2});
  const double values[] = {1, kNan, kInf, kNan, -kInf, -kInf, kInf, kInf};
  const std::vector<T> src = filled<T>(8, [&](int64_t i) { return values[i]; });
  for (Reduce kind : {Reduce::kMax, Reduce::kMin}) {
    const Result<T> got = reduce(c, 1, kind, src);
    EXPECT_TRUE(std::isnan(as_double(got.out[0])));
    EXPECT_EQ(got.arg, (std::vector<int64_t>{1, 4, 6}));
    EXPECT_EQ(as_double(got.out[1]), -kInf);
    EXPECT_EQ(as_double(got.out[2]), kInf);
  }
}

TYPED_TEST(SegmentReduceCuda, RepeatsBitForBit) {
  using T = TypeParam;
  const SegmentCase c = segment_cases().back();
  const std::vector<T> src =
      filled<T>(c.num_rows * 8, [](int64_t i) { return std::sin(static_cast<double>(i)); });
  const Result<T> a = reduce(c, 8, Reduce::kSum, src), b = reduce(c, 8, Reduce::kSum, src);
  EXPECT_EQ(std::memcmp(a.out.data(), b.out.data(), a.out.size() * sizeof(T)), 0);
}

}  // namespace
}  // namespace sage
