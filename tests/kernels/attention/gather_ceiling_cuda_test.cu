// Tests of kernels/attention/gather_ceiling_cuda.cu against sums in double precision.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/kernels/attention/cuda_problem.cuh"

namespace sage::attention_test {
namespace {

template <class T>
class GatherCeilingCuda : public CudaTest {};
using Elements = ::testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(GatherCeilingCuda, Elements);

TYPED_TEST(GatherCeilingCuda, SumsTheRowsOfBothTables) {
  using T = TypeParam;
  for (int64_t width : {8, 24, 128, 512, 1000}) {
    for (bool with_values : {false, true}) {
      const Problem p = random_problem<DotScore, T>({.key_dim = width, .value_dim = width}, 3);
      const DeviceGraph graph(p.edges, p.num_dst, p.num_src, false, 1000, with_values);
      const DeviceArray<T> k(from_double<T>(p.k)), v(from_double<T>(p.v)), out(p.num_dst * width);
      GatherCeiling<T> call;
      call.graph = graph.view();
      call.schedule = graph.schedule();
      call.row_elements = width;
      call.k = k.get(), call.v = with_values ? v.get() : nullptr, call.out = out.get();
      gather_ceiling_cuda<T>(call, nullptr);

      std::vector<double> want(static_cast<size_t>(p.num_dst * width));
      for (const Edge& e : p.edges) {
        for (int64_t c = 0; c < width; ++c) {
          const auto from = static_cast<size_t>(e.src * width + c);
          want[static_cast<size_t>(e.dst * width + c)] += p.k[from] + (with_values ? p.v[from] : 0);
        }
      }
      expect_close(to_double(out.host()), want, kTolerance<T>, "out");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(GatherCeilingCuda, LeavesSplitRowsAlone) {
  using T = TypeParam;
  const Problem p = random_problem<DotScore, T>({}, 3);
  const DeviceGraph graph(p.edges, p.num_dst, p.num_src, false, 40, false);
  const DeviceArray<T> k(from_double<T>(p.k)), out(p.num_dst * 8);
  GatherCeiling<T> call;
  call.graph = graph.view();
  call.schedule = graph.schedule();
  call.row_elements = 8;
  call.k = k.get(), call.out = out.get();
  gather_ceiling_cuda<T>(call, nullptr);
  const std::vector<double> got = to_double(out.host());
  EXPECT_TRUE(std::isnan(got[4 * 8]));  // 150 edges
  EXPECT_TRUE(std::isfinite(got[5 * 8]));
}

}  // namespace
}  // namespace sage::attention_test
