// Tests of kernels/attention/delta_cuda.cu against dot products in double precision.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/kernels/attention/cuda_problem.cuh"

namespace sage::attention_test {
namespace {

template <class T>
class AttentionDeltaCuda : public CudaTest {};
using Elements = ::testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(AttentionDeltaCuda, Elements);

TYPED_TEST(AttentionDeltaCuda, PairsLseWithTheDotProduct) {
  using T = TypeParam;
  std::mt19937_64 random(1);
  for (int64_t dim : {8, 16, 24, 32, 40, 64, 128, 256, 512, 1000}) {
    for (int64_t count : {1, 3, 31, 32, 33, 1000}) {
      const auto grad = random_values<T>(count * dim, 1, random);
      const auto out = random_values<T>(count * dim, 1, random);
      auto lse = random_values<Acc<T>>(count, 5, random);
      lse[0] = -kInf;
      std::vector<double> want;
      for (int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (int64_t c = 0; c < dim; ++c) {
          sum += grad[static_cast<size_t>(i * dim + c)] * out[static_cast<size_t>(i * dim + c)];
        }
        want.insert(want.end(), {lse[static_cast<size_t>(i)], sum});
      }
      const DeviceArray<T> grad_array(from_double<T>(grad)), out_array(from_double<T>(out));
      const DeviceArray<Acc<T>> lse_array(from_double<Acc<T>>(lse)), lse_delta(2 * count);
      attention_delta_cuda<T>(count, dim, grad_array.get(), out_array.get(), lse_array.get(),
                              lse_delta.get(), nullptr);
      expect_close(to_double(lse_delta.host()), want, sizeof(T) == 8 ? 1e-12 : 2e-5, "lse_delta");
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(AttentionDeltaCuda, NothingToDo) {
  attention_delta_cuda<TypeParam>(0, 8, nullptr, nullptr, nullptr, nullptr, nullptr);
}

}  // namespace
}  // namespace sage::attention_test
