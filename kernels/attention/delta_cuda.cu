// lse_delta on CUDA: per row and head the log-sum-exp beside grad . out.
#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "kernels/attention/attention.h"
#include "kernels/attention/operand_check.h"
#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "kernels/core/vec.cuh"

namespace sage {

inline constexpr int kDeltaThreads = 256;

// 1 << shift lanes take one head of a row.
template <class T>
static __global__ void __launch_bounds__(kDeltaThreads)
    delta_kernel(int64_t count, int32_t vecs, int shift, const T* grad, const T* out,
                 const Acc<T>* lse, Acc<T>* lse_delta) {
  using A = Acc<T>;
  const int32_t lanes = 1 << shift, lane = static_cast<int32_t>(threadIdx.x) & (lanes - 1);
  const int64_t step = (int64_t{gridDim.x} * kDeltaThreads) >> shift;
  const int64_t mine = (int64_t{blockIdx.x} * kDeltaThreads + threadIdx.x) >> shift;
  // The lanes of a warp shuffle together: its last turn is the same for all of them.
  const int64_t in_warp = static_cast<int64_t>(threadIdx.x % 32) >> shift;
  for (int64_t i = mine; i - in_warp < count; i += step) {
    const int64_t head = min(i, count - 1);
    A sum = 0;
    for (int32_t c = lane; c < vecs; c += lanes) {
      const int64_t at = (head * vecs + c) * kVec<T>;
      const uint4 packed_grad = load16(grad + at), packed_out = load16(out + at);
      A x[kVec<T>], y[kVec<T>];
      unpack<T>(packed_grad, x);
      unpack<T>(packed_out, y);
#pragma unroll
      for (int j = 0; j < kVec<T>; ++j) sum += x[j] * y[j];
    }
    for (int s = lanes / 2; s > 0; s /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, s);
    if (lane == 0 && i < count) {
      lse_delta[2 * i] = lse[i];
      lse_delta[2 * i + 1] = sum;
    }
  }
}

template <class T>
void attention_delta_cuda(int64_t count, int64_t value_dim, const T* grad, const T* out,
                          const Acc<T>* lse, Acc<T>* lse_delta, CudaStream stream) {
  if (count == 0) return;
  constexpr int64_t kAnyDim = std::numeric_limits<int32_t>::max();
  check_rows("grad", grad, 1, value_dim, sizeof(T), kAnyDim);
  check_rows("out", out, 1, value_dim, sizeof(T), kAnyDim);
  const int64_t vecs = value_dim / kVec<T>;
  const auto lanes = std::min<uint64_t>(32, std::bit_ceil(static_cast<uint64_t>(vecs)));
  const int shift = std::countr_zero(lanes);
  delta_kernel<T><<<blocks_for(count, kDeltaThreads >> shift), kDeltaThreads, 0, stream>>>(
      count, static_cast<int32_t>(vecs), shift, grad, out, lse, lse_delta);
  launch_check("attention_delta");
}

template void attention_delta_cuda<float>(int64_t, int64_t, const float*, const float*,
                                          const float*, float*, CudaStream);
template void attention_delta_cuda<double>(int64_t, int64_t, const double*, const double*,
                                           const double*, double*, CudaStream);
template void attention_delta_cuda<bfloat16>(int64_t, int64_t, const bfloat16*, const bfloat16*,
                                             const float*, float*, CudaStream);

}  // namespace sage
