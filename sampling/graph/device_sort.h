// Stable radix sort on the device of integers below a bound, and the workspace of CUDA builders.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sampling/graph/csr_build.h"
#include "sampling/graph/index_types.h"

namespace sage {

// Cuts a workspace into arrays. Without a base it only adds up the size, and gives null pointers.
struct Workspace {
  void* base = nullptr;
  size_t bytes = 0;

  void* take(size_t size) {
    constexpr size_t kAlignment = 256;
    const size_t at = bytes;
    bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
    return base == nullptr ? nullptr : static_cast<char*>(base) + at;
  }
  template <class T>
  T* take_array(int64_t count) {
    return static_cast<T*>(take(static_cast<size_t>(count) * sizeof(T)));
  }
};

// Sorts `count` pairs of a key in [0, num_keys) and a value in [0, count), by key. Write keys() and
// values(), run, and read keys() and values(): they are then other arrays.
class DeviceSort {
 public:
  DeviceSort(Workspace& workspace, int64_t count, int64_t num_keys);

  void run(CudaStream stream);
  MutableIndexSpan keys() const { return {keys_[current_], key_bytes_}; }
  MutableIndexSpan values() const { return {values_[current_], value_bytes_}; }

 private:
  int64_t count_, num_keys_;
  int32_t key_bytes_, value_bytes_;
  int current_ = 0;
  void* keys_[2];
  void* values_[2];
  void* temporary_ = nullptr;
  size_t temporary_bytes_ = 0;
};

}  // namespace sage
