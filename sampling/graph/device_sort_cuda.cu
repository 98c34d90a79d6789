// The radix sort of the CUDA graph builders: CUB's, over the bits that keys can have.
#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <limits>

#include "kernels/core/cuda_check.cuh"
#include "sampling/graph/device_sort.h"

namespace sage {
namespace {

constexpr int64_t kMostInt32 = std::numeric_limits<int32_t>::max();

// With temporary == nullptr: asks for the size. Returns which of the two buffers has the result.
template <class Key, class Value>
int sort_pairs(void* temporary, size_t& bytes, void* const (&keys)[2], void* const (&values)[2],
               int current, int64_t count, int64_t num_keys, CudaStream stream) {
  const int other = 1 - current;
  cub::DoubleBuffer<Key> k(static_cast<Key*>(keys[current]), static_cast<Key*>(keys[other]));
  cub::DoubleBuffer<Value> v(static_cast<Value*>(values[current]),
                             static_cast<Value*>(values[other]));
  const auto largest_key = static_cast<uint64_t>(num_keys - 1);
  const int bits = std::max(static_cast<int>(std::bit_width(largest_key)), 1);
  cuda_check(cub::DeviceRadixSort::SortPairs(temporary, bytes, k, v, count, 0, bits, stream),
             "cub::DeviceRadixSort::SortPairs");
  return v.selector == 0 ? current : other;
}

// Calls f with the sort for these widths.
template <class F>
void with_sort(int32_t key_bytes, int32_t value_bytes, F&& f) {
  if (key_bytes == 4 && value_bytes == 4) return f(sort_pairs<uint32_t, int32_t>);
  if (key_bytes == 4) return f(sort_pairs<uint32_t, int64_t>);
  f(sort_pairs<uint64_t, int64_t>);
}

}  // namespace

DeviceSort::DeviceSort(Workspace& workspace, int64_t count, int64_t num_keys)
    : count_(count),
      num_keys_(num_keys),
      key_bytes_(num_keys <= kMostInt32 ? 4 : 8),
      value_bytes_(num_keys <= kMostInt32 && count <= kMostInt32 ? 4 : 8) {
  for (void*& p : keys_) p = workspace.take(static_cast<size_t>(count * key_bytes_));
  for (void*& p : values_) p = workspace.take(static_cast<size_t>(count * value_bytes_));
  if (count == 0) return;
  with_sort(key_bytes_, value_bytes_, [&](auto sort) {
    sort(nullptr, temporary_bytes_, keys_, values_, 0, count_, num_keys_, nullptr);
  });
  temporary_ = workspace.take(temporary_bytes_);
}

void DeviceSort::run(CudaStream stream) {
  if (count_ == 0) return;
  with_sort(key_bytes_, value_bytes_, [&](auto sort) {
    current_ =
        sort(temporary_, temporary_bytes_, keys_, values_, current_, count_, num_keys_, stream);
  });
}

}  // namespace sage
