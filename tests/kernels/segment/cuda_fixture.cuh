// What the CUDA tests of kernels/segment share: graphs, schedules, device arrays and exact numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/csr.h"
#include "kernels/core/cuda_check.cuh"
#include "kernels/core/dtype.h"

namespace sage::segment::testing {

template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(const std::vector<T>& host) : size_(host.size()) {
    cuda_check(cudaMalloc(&data_, std::max<size_t>(size_, 1) * sizeof(T)), "cudaMalloc");
    cuda_check(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~DeviceArray() { cudaFree(data_); }

  T* get() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> values(size_);
    cuda_check(cudaDeviceSynchronize(), "kernel");
    cuda_check(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    return values;
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// Multiples of 1/8 in [-4, 4], in a fixed irregular order: sums and products of a few of them are
// exact in every accumulator, so that results can be compared bit for bit.
inline double exact_value(int64_t i) { return static_cast<double>((i * 7919 + 13) % 65 - 32) / 8; }
inline double exact_weight(int64_t i) {
  constexpr double kWeights[] = {1, -1, 0.5, 2, -0.5};
  return kWeights[(i * 31 + 7) % 5];
}
template <class T, class F>
std::vector<T> filled(int64_t count, F&& f) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = T(static_cast<Acc<T>>(f(i)));
  }
  return values;
}
template <class T>
double as_double(T x) {
  return static_cast<double>(static_cast<Acc<T>>(x));
}
// `x` rounded to T.
template <class T>
double rounded(double x) {
  return as_double(T(static_cast<Acc<T>>(x)));
}
// Relative rounding of T.
template <class T>
constexpr double kEpsilon = sizeof(T) == 2   ? 1.0 / 256
                            : sizeof(T) == 4 ? 1e-6
                                             : 1e-14;

struct TestGraph {
  std::string name;
  std::vector<int64_t> indptr, indices, edge_ids;  // with entries behind indptr.back()
  int64_t num_cols = 0;

  int64_t num_rows() const { return static_cast<int64_t>(indptr.size()) - 1; }
  int64_t num_edges() const { return static_cast<int64_t>(indices.size()); }
};

// Rows of the given degrees; edge ids are a permutation. `tail` entries that no row owns, with
// indices that must not be followed.
inline TestGraph make_graph(const std::string& name, const std::vector<int64_t>& degrees,
                            int64_t num_cols, int64_t tail = 0) {
  TestGraph g{name, {0}, {}, {}, num_cols};
  for (int64_t degree : degrees) {
    for (int64_t e = 0; e < degree; ++e) {
      const int64_t i = static_cast<int64_t>(g.indices.size());
      g.indices.push_back((i * 7907 + i / 3) % num_cols);
    }
    g.indptr.push_back(static_cast<int64_t>(g.indices.size()));
  }
  g.indices.insert(g.indices.end(), static_cast<size_t>(tail), int64_t{1} << 30);
  const int64_t edges = g.num_edges();
  g.edge_ids.resize(static_cast<size_t>(edges));
  std::iota(g.edge_ids.begin(), g.edge_ids.end(), 0);
  for (int64_t i = edges - 1; i > 0; --i) {
    std::swap(g.edge_ids[static_cast<size_t>(i)], g.edge_ids[static_cast<size_t>(i * 7919 % i)]);
  }
  return g;
}

inline std::vector<TestGraph> graph_zoo() {
  std::vector<int64_t> mixed(700);
  for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = static_cast<int64_t>(i * i % 23);
  return {make_graph("no rows", {}, 3),
          make_graph("no edges", {0, 0, 0, 0, 0}, 3),
          make_graph("one edge", {1}, 1),
          make_graph("isolated rows, the last too", {0, 3, 0, 0, 5, 1, 0}, 4),
          make_graph("one hub", {5000}, 300),
          make_graph("duplicates", {40, 2}, 1),
          make_graph("degrees around a warp", {31, 32, 33, 4, 3, 5}, 50),
          make_graph("degrees around a chunk", {1023, 1, 1024, 0, 1025}, 2000),
          make_graph("many rows", mixed, 900),
          make_graph("entries behind indptr", {7, 0, 130, 2}, 11, 9)};
}

// The transpose; edge ids are the graph's. Entries behind indptr stay where they are.
inline TestGraph transpose(const TestGraph& g) {
  TestGraph t{g.name, std::vector<int64_t>(static_cast<size_t>(g.num_cols) + 1), g.indices,
              g.edge_ids, g.num_rows()};
  const int64_t owned = g.indptr.back();
  for (int64_t e = 0; e < owned; ++e) ++t.indptr[static_cast<size_t>(g.indices[e]) + 1];
  std::partial_sum(t.indptr.begin(), t.indptr.end(), t.indptr.begin());
  std::vector<int64_t> next = t.indptr;
  for (int64_t i = 0; i < g.num_rows(); ++i) {
    for (int64_t e = g.indptr[i]; e < g.indptr[i + 1]; ++e) {
      const int64_t at = next[static_cast<size_t>(g.indices[e])]++;
      t.indices[static_cast<size_t>(at)] = i;
      t.edge_ids[static_cast<size_t>(at)] = g.edge_ids[static_cast<size_t>(e)];
    }
  }
  return t;
}

// An index array on the device, as int32 or int64.
class DeviceIndex {
 public:
  DeviceIndex(const std::vector<int64_t>& values, int32_t bytes) : bytes_(bytes) {
    if (bytes == 8) {
      wide_ = DeviceArray<int64_t>(values);
    } else {
      narrow_ = DeviceArray<int32_t>(std::vector<int32_t>(values.begin(), values.end()));
    }
  }
  IndexSpan view() const {
    return {bytes_ == 8 ? static_cast<const void*>(wide_.get()) : narrow_.get(), bytes_};
  }

 private:
  int32_t bytes_;
  DeviceArray<int64_t> wide_;
  DeviceArray<int32_t> narrow_;
};

// A graph on the device with its schedule: rows above `chunk` edges are cut.
class DeviceGraph {
 public:
  DeviceGraph(const TestGraph& g, int64_t chunk, int32_t bytes, bool with_ids)
      : indptr_(g.indptr), indices_(g.indices, bytes), edge_ids_(g.edge_ids, bytes) {
    graph_ = {indptr_.get(), indices_.view(), with_ids ? edge_ids_.view() : IndexSpan{},
              g.num_rows(),  g.num_cols,      g.num_edges()};
    std::vector<Task> tasks;
    std::vector<int64_t> packed_splits;
    int32_t slots = 0;
    for (int64_t i = 0; i < g.num_rows(); ++i) {
      const int64_t begin = g.indptr[i], count = g.indptr[i + 1] - begin;
      const int64_t parts = std::max<int64_t>((count + chunk - 1) / chunk, 1);
      for (int64_t p = 0; p < parts; ++p) {
        tasks.push_back(
            {begin + p * chunk, static_cast<int32_t>(std::min(chunk, count - p * chunk)),
             static_cast<int32_t>(i), parts > 1 ? slots + static_cast<int32_t>(p) : -1});
      }
      if (parts > 1) {
        packed_splits.insert(packed_splits.end(), {i, slots | parts << 32});
        slots += static_cast<int32_t>(parts);
      }
    }
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const Task& a, const Task& b) { return a.count > b.count; });
    tasks.resize(tasks.size() + 3);  // padding
    packed_splits.resize(std::max<size_t>(packed_splits.size(), static_cast<size_t>(slots)) + 4);
    std::vector<int64_t> packed_tasks;
    for (const Task& t : tasks) {
      packed_tasks.push_back(t.begin | static_cast<int64_t>(t.count) << 40);
      packed_tasks.push_back(static_cast<int64_t>(static_cast<uint32_t>(t.row)) |
                             static_cast<int64_t>(t.slot) << 32);
    }
    tasks_ = DeviceArray<int64_t>(packed_tasks);
    splits_ = DeviceArray<int64_t>(packed_splits);
    schedule_ = {tasks_.get(), splits_.get(), static_cast<int64_t>(packed_tasks.size()) / 2,
                 static_cast<int64_t>(packed_splits.size()) / 2};
  }
  const CsrView& graph() const { return graph_; }
  const ScheduleView& schedule() const { return schedule_; }

 private:
  DeviceArray<int64_t> indptr_, tasks_, splits_;
  DeviceIndex indices_, edge_ids_;
  CsrView graph_;
  ScheduleView schedule_;
};

// Typed over the element types; skipped, and counted, where there is no GPU.
template <class T>
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU";
  }
};
using ElementTypes = ::testing::Types<float, double, bfloat16>;

}  // namespace sage::segment::testing
