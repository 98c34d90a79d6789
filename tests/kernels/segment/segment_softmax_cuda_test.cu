// Segment softmax on CUDA, forward and backward, against its formula in double.
#include <cmath>
#include <limits>

#include "kernels/segment/segment.h"
#include "tests/kernels/segment/segment_cases.cuh"

namespace sage {
namespace {

using namespace sage::segment::testing;

template <class T>
using SegmentSoftmaxCuda = CudaTest<T>;
TYPED_TEST_SUITE(SegmentSoftmaxCuda, ElementTypes);

template <class T>
std::vector<T> softmax(const SegmentCase& c, int64_t width, const std::vector<T>& src) {
  const DeviceArray<int64_t> indptr(c.indptr);
  const DeviceArray<T> device_src(src),
      out(filled<T>(c.num_rows * width, [](int64_t) { return 7; }));
  segment_softmax_cuda(c.view<T>(indptr, width), device_src.get(), out.get(), nullptr);
  return out.host();
}

// exp(x - max) / sum in double, 0 outside every segment.
template <class T>
std::vector<double> formula(const SegmentCase& c, int64_t width, const std::vector<T>& src) {
  std::vector<double> out(src.size());
  for (size_t s = 0; s + 1 < c.indptr.size(); ++s) {
    for (int64_t f = 0; f < width; ++f) {
      double max = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t r = c.indptr[s]; r < c.indptr[s + 1]; ++r) {
        max = std::max(max, as_double(src[r * width + f]));
      }
      for (int64_t r = c.indptr[s]; r < c.indptr[s + 1]; ++r) {
        sum += std::exp(as_double(src[r * width + f]) - max);
      }
      for (int64_t r = c.indptr[s]; r < c.indptr[s + 1]; ++r) {
        out[r * width + f] = std::exp(as_double(src[r * width + f]) - max) / sum;
      }
    }
  }
  return out;
}

TYPED_TEST(SegmentSoftmaxCuda, ForwardAndBackward) {
  using T = TypeParam;
  for (const SegmentCase& c : segment_cases()) {
    for (int64_t width : {1, 3, 8, 32, 33, 100}) {
      SCOPED_TRACE(c.name + ", width " + std::to_string(width));
      const int64_t count = c.num_rows * width;
      const std::vector<T> src =
          filled<T>(count, [](int64_t i) { return 6 * std::sin(static_cast<double>(i)); });
      const std::vector<T> out = softmax(c, width, src);
      const std::vector<double> want = formula(c, width, src);
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_NEAR(as_double(out[i]), want[i], 4 * kEpsilon<T> * want[i]) << i;
      }

      const std::vector<T> grad = filled<T>(count, exact_value);
      const DeviceArray<int64_t> indptr(c.indptr);
      const DeviceArray<T> device_grad(grad), device_out(out);
      const DeviceArray<T> dsrc(filled<T>(count, [](int64_t) { return 7; }));
      segment_softmax_backward_cuda(c.view<T>(indptr, width), device_grad.get(), device_out.get(),
                                    dsrc.get(), nullptr);
      const std::vector<T> got = dsrc.host();
      std::vector<double> want_grad(want.size()), bound(want.size());
      for (size_t s = 0; s + 1 < c.indptr.size(); ++s) {
        for (int64_t f = 0; f < width; ++f) {
          double dot = 0;
          for (int64_t r = c.indptr[s]; r < c.indptr[s + 1]; ++r) {
            dot += as_double(grad[r * width + f]) * as_double(out[r * width + f]);
          }
          for (int64_t r = c.indptr[s]; r < c.indptr[s + 1]; ++r) {
            const int64_t i = r * width + f;
            want_grad[i] = as_double(out[i]) * (as_double(grad[i]) - dot);
            bound[i] = 4 * kEpsilon<T> * as_double(out[i]) * 8;  // |grad| and |dot| are at most 4
          }
        }
      }
      for (size_t i = 0; i < want.size(); ++i) {
        ASSERT_NEAR(as_double(got[i]), want_grad[i], bound[i]) << i;
      }
    }
  }
}

TYPED_TEST(SegmentSoftmaxCuda, InfinitiesAndNan) {
  using T = TypeParam;
  const double kInf = std::numeric_limits<double>::infinity();
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const SegmentCase c{"special", {0, 3, 6, 9}, 9};
  const double values[] = {-kInf, -kInf, -kInf, -kInf, 1, 1, kNan, 0, -kInf};
  const std::vector<T> out = softmax(c, 1, filled<T>(9, [&](int64_t i) { return values[i]; }));
  const double want[] = {0, 0, 0, 0, 0.5, 0.5};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(as_double(out[i]), want[i]) << i;
  for (size_t i = 6; i < 9; ++i) EXPECT_TRUE(std::isnan(as_double(out[i]))) << i;
}

TYPED_TEST(SegmentSoftmaxCuda, LargeScoresKeepTheirDigits) {
  using T = TypeParam;
  const SegmentCase c{"large", {0, 400}, 400};
  const std::vector<T> src = filled<T>(400, [](int64_t i) { return -8192 + 64.0 * (i % 3); });
  const std::vector<T> out = softmax(c, 1, src);
  const std::vector<double> want = formula(c, 1, src);
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(as_double(out[i]), want[i], 4 * kEpsilon<T> * want[i] + 1e-37) << i;
  }
}

TYPED_TEST(SegmentSoftmaxCuda, RepeatsBitForBit) {
  using T = TypeParam;
  const SegmentCase c = segment_cases().back();
  const std::vector<T> src =
      filled<T>(c.num_rows * 3, [](int64_t i) { return std::sin(static_cast<double>(i)); });
  const std::vector<T> a = softmax(c, 3, src), b = softmax(c, 3, src);
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(T)), 0);
}

}  // namespace
}  // namespace sage
