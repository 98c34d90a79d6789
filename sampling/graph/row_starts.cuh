// Row starts of sorted keys, on the device.
#pragma once

#include <cstdint>

#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "sampling/graph/search.cuh"

namespace sage {

// starts[k] = number of keys below k, for k in [0, num_keys].
template <int = 0>  // a template, so that several files may have it
__global__ void row_starts_kernel(IndexSpan keys, int64_t count, int64_t num_keys,
                                  int64_t* starts) {
  for (const int64_t k : grid_stride(num_keys + 1)) {
    starts[k] = first_where(count, [&](int64_t i) { return keys[i] >= k; });
  }
}

inline void write_row_starts(const IndexSpan& keys, int64_t count, int64_t num_keys,
                             int64_t* starts, Stream stream) {
  constexpr int kThreads = 256;
  row_starts_kernel<<<blocks_for(num_keys + 1, kThreads), kThreads, 0, stream>>>(keys, count,
                                                                                 num_keys, starts);
  launch_check("row_starts_kernel");
}

}  // namespace sage
