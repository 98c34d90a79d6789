// Exclusive sums on the device of any length (CUB counts items in an int in older toolkits).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cub/device/device_scan.cuh>

#include "kernels/core/cuda_check.cuh"
#include "sampling/graph/device_sort.h"

namespace sage {

template <class T>
struct Plus {
  __host__ __device__ T operator()(T a, T b) const { return a + b; }
};

// Items of one CUB call; more are summed piece by piece.
inline constexpr int64_t kScanPiece = int64_t{1} << 30;

// out[i] = sum of in[0 .. i-1], for i in [0, count); count > 0. `in` is any device iterator.
template <class T, class Input>
class DeviceScan {
 public:
  DeviceScan(Workspace& workspace, Input in, T* out, int64_t count, int64_t piece = kScanPiece)
      : in_(in), out_(out), count_(count), piece_(piece) {
    const int64_t length = std::min(count, piece_);
    first(nullptr, length, nullptr);
    size_t bytes = temporary_bytes_;
    next(nullptr, 0, length, nullptr);
    temporary_bytes_ = std::max(bytes, temporary_bytes_);
    temporary_ = workspace.take(temporary_bytes_);
  }

  void run(Stream stream) {
    first(temporary_, std::min(count_, piece_), stream);
    // A piece begins with the item that the one before ended with: its sum is there already.
    for (int64_t at = piece_ - 1; at + 1 < count_; at += piece_ - 1) {
      next(temporary_, at, std::min(count_ - at, piece_), stream);
    }
  }

 private:
  void first(void* temporary, int64_t length, Stream stream) {
    cuda_check(cub::DeviceScan::ExclusiveScan(temporary, temporary_bytes_, in_, out_, Plus<T>{},
                                              T{0}, static_cast<int>(length), stream),
               "cub::DeviceScan::ExclusiveScan");
  }
  void next(void* temporary, int64_t at, int64_t length, Stream stream) {
    cuda_check(cub::DeviceScan::ExclusiveScan(temporary, temporary_bytes_, in_ + at, out_ + at,
                                              Plus<T>{}, cub::FutureValue<T>(out_ + at),
                                              static_cast<int>(length), stream),
               "cub::DeviceScan::ExclusiveScan");
  }

  Input in_;
  T* out_;
  int64_t count_, piece_;
  void* temporary_ = nullptr;
  size_t temporary_bytes_ = 0;
};

}  // namespace sage
