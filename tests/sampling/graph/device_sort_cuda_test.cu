// Tests of the stable radix sort on the GPU, and of the sums behind it.
#include "sampling/graph/device_scan.cuh"
#include "sampling/graph/device_sort.h"
#include "tests/sampling/graph/device_arrays.cuh"

namespace sage::graph_tests {
namespace {

using DeviceSortCuda = GraphCuda;

void write(const MutableIndexSpan& to, const Ids& values) {
  const IndexVector host(values, to.bytes);
  if (!values.empty()) {
    cuda_check(cudaMemcpy(to.data, host.data(), host.total_bytes(), cudaMemcpyHostToDevice),
               "copy");
  }
}

Ids read(const MutableIndexSpan& from, int64_t count) {
  IndexVector host(count, from.bytes);
  if (count > 0) {
    cuda_check(
        cudaMemcpy(host.to_write().data, from.data, host.total_bytes(), cudaMemcpyDeviceToHost),
        "copy");
  }
  return host.values();
}

void expect_sorted(int64_t count, int64_t num_keys) {
  SCOPED_TRACE(std::to_string(count) + " items, " + std::to_string(num_keys) + " keys");
  std::mt19937_64 random(5);
  std::uniform_int_distribution<int64_t> key(0, num_keys - 1);
  Ids keys(at(count)), values(at(count));
  for (int64_t& k : keys) k = key(random);
  std::iota(values.begin(), values.end(), 0);
  Workspace size_only;
  DeviceSort(size_only, count, num_keys);
  const DeviceBytes memory(size_only.bytes);
  Workspace workspace{memory.data()};
  DeviceSort sort(workspace, count, num_keys);
  EXPECT_EQ(workspace.bytes, size_only.bytes);
  write(sort.keys(), keys);
  write(sort.values(), values);
  sort.run(nullptr);
  cuda_check(cudaDeviceSynchronize(), "sort");
  EXPECT_EQ(read(sort.values(), count), stable_order(keys));
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(read(sort.keys(), count), keys);
}

TEST_F(DeviceSortCuda, IsStable) {
  for (int64_t count : {0, 1, 2, 1000, 70000}) {
    for (int64_t num_keys : {int64_t{1}, int64_t{2}, int64_t{255}, int64_t{256}, int64_t{100001},
                             int64_t{1} << 31, (int64_t{1} << 31) + 5, int64_t{1} << 62}) {
      expect_sorted(count, num_keys);
    }
  }
}

TEST_F(DeviceSortCuda, ExclusiveSums) {
  for (int64_t count : {1, 2, 3, 5000}) {
    Ids in(at(count)), expected(at(count));
    for (int64_t i = 0; i < count; ++i) in[at(i)] = i % 7 + (int64_t{1} << 40);
    std::exclusive_scan(in.begin(), in.end(), expected.begin(), int64_t{0});
    const DeviceIndex input(in, 8), output(count, 8);
    for (int64_t piece : {int64_t{2}, int64_t{3}, int64_t{1000}, kScanPiece}) {
      Workspace size_only;
      DeviceScan<int64_t, const int64_t*>(size_only, input.int64s(), output.int64s(), count, piece);
      const DeviceBytes memory(size_only.bytes);
      Workspace workspace{memory.data()};
      DeviceScan<int64_t, const int64_t*> scan(workspace, input.int64s(), output.int64s(), count,
                                               piece);
      scan.run(nullptr);
      cuda_check(cudaDeviceSynchronize(), "scan");
      EXPECT_EQ(output.values(), expected) << count << " in pieces of " << piece;
    }
  }
}

}  // namespace
}  // namespace sage::graph_tests
