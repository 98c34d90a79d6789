// Grid sizes and the loops that match them live together: any grid is correct, a capped one is
// only slower.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sage {

// Blocks for `items` at `per_block` each, within what a grid's x may be.
inline unsigned blocks_for(int64_t items, int64_t per_block, int64_t max_blocks = 2147483647) {
  return static_cast<unsigned>(
      std::clamp<int64_t>((items + per_block - 1) / per_block, 1, max_blocks));
}

// for (int64_t i : grid_stride(n)) visits every i in [0, n) once, one thread an item.
struct GridStride {
  int64_t n;

  struct Iterator {
    int64_t i, step;
    __device__ int64_t operator*() const { return i; }
    __device__ void operator++() { i += step; }
    __device__ bool operator!=(const Iterator& end) const { return i < end.i; }
  };
  __device__ Iterator begin() const {
    return {int64_t{blockIdx.x} * blockDim.x + threadIdx.x, int64_t{gridDim.x} * blockDim.x};
  }
  __device__ Iterator end() const { return {n, 0}; }
};
__device__ inline GridStride grid_stride(int64_t n) { return {n}; }

}  // namespace sage
