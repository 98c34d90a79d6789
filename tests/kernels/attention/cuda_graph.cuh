// Graphs with their schedules and arrays on the device, for the CUDA tests of kernels/attention.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/core/csr.h"
#include "kernels/core/cuda_check.cuh"
#include "kernels/core/dtype.h"

namespace sage::attention_test {

// Skips its tests where there is no GPU.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) GTEST_SKIP() << "no CUDA device";
  }
};

template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<T>& host) : size_(host.size()) {
    if (size_ == 0) return;
    cuda_check(cudaMalloc(&data_, size_ * sizeof(T)), "cudaMalloc");
    cuda_check(cudaMemcpy(data_, host.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "copy");
  }
  // An output: every byte is 0xff, so that an element nobody wrote is a NaN.
  explicit DeviceArray(int64_t size) : size_(static_cast<size_t>(size)) {
    if (size_ == 0) return;
    cuda_check(cudaMalloc(&data_, size_ * sizeof(T)), "cudaMalloc");
    cuda_check(cudaMemset(data_, 0xff, size_ * sizeof(T)), "cudaMemset");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* get() const { return data_; }
  std::vector<T> host() const {
    std::vector<T> x(size_);
    cuda_check(cudaDeviceSynchronize(), "kernel");
    if (size_ != 0) {
      cuda_check(cudaMemcpy(x.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), "copy");
    }
    return x;
  }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

template <class T>
double to_double(T x) {
  return static_cast<double>(static_cast<Acc<T>>(x));
}
template <class T>
std::vector<double> to_double(const std::vector<T>& x) {
  std::vector<double> y;
  for (T value : x) y.push_back(to_double(value));
  return y;
}
template <class T>
std::vector<T> from_double(const std::vector<double>& x) {
  std::vector<T> y;
  for (double value : x) y.push_back(T(static_cast<Acc<T>>(value)));
  return y;
}

struct Edge {
  int64_t dst, src, id;
};

// A graph on the device with its schedule, by destination or (transposed) by source. order[p] is
// the edge at position p.
class DeviceGraph {
 public:
  DeviceGraph(const std::vector<Edge>& edges, int64_t num_dst, int64_t num_src, bool transposed,
              int64_t chunk, bool wide)
      : DeviceGraph(make(edges, num_dst, num_src, transposed, chunk), wide) {}

  const std::vector<int64_t>& order() const { return host_.order; }
  CsrView view() const { return view_; }
  ScheduleView schedule() const {
    return {tasks_.get(), splits_.get(), static_cast<int64_t>(host_.tasks.size() / 2),
            static_cast<int64_t>(host_.splits.size() / 2)};
  }

 private:
  struct Host {
    std::vector<int64_t> indptr, indices, ids, order, tasks, splits;
    int64_t num_rows, num_cols;
  };

  DeviceGraph(Host host, bool wide)
      : host_(std::move(host)),
        indptr_(host_.indptr),
        indices_(host_.indices),
        ids_(host_.ids),
        indices4_(std::vector<int32_t>(host_.indices.begin(), host_.indices.end())),
        ids4_(std::vector<int32_t>(host_.ids.begin(), host_.ids.end())),
        tasks_(host_.tasks),
        splits_(host_.splits) {
    view_.indptr = indptr_.get();
    view_.indices = wide ? IndexSpan{indices_.get(), 8} : IndexSpan{indices4_.get(), 4};
    view_.edge_ids = wide ? IndexSpan{ids_.get(), 8} : IndexSpan{ids4_.get(), 4};
    view_.num_rows = host_.num_rows;
    view_.num_cols = host_.num_cols;
    view_.num_edges = static_cast<int64_t>(host_.indices.size());
  }

  static Host make(const std::vector<Edge>& edges, int64_t num_dst, int64_t num_src,
                   bool transposed, int64_t chunk) {
    Host g;
    g.num_rows = transposed ? num_src : num_dst;
    g.num_cols = transposed ? num_dst : num_src;
    std::vector<std::vector<int64_t>> rows(static_cast<size_t>(g.num_rows));
    for (size_t e = 0; e < edges.size(); ++e) {
      rows[static_cast<size_t>(transposed ? edges[e].src : edges[e].dst)].push_back(
          static_cast<int64_t>(e));
    }
    struct Packed {
      int64_t count, first, second;
    };
    std::vector<Packed> tasks;
    int64_t slots = 0;
    g.indptr.push_back(0);
    for (int64_t row = 0; row < g.num_rows; ++row) {
      const int64_t begin = g.indptr.back();
      const auto count = static_cast<int64_t>(rows[static_cast<size_t>(row)].size());
      for (int64_t e : rows[static_cast<size_t>(row)]) {
        const Edge& edge = edges[static_cast<size_t>(e)];
        g.indices.push_back(transposed ? edge.dst : edge.src);
        g.ids.push_back(edge.id);
        g.order.push_back(e);
      }
      g.indptr.push_back(begin + count);
      if (count <= chunk) {
        tasks.push_back({count, begin | count << 40, row | int64_t{-1} * (int64_t{1} << 32)});
        continue;
      }
      const int64_t parts = (count + chunk - 1) / chunk;
      g.splits.insert(g.splits.end(), {row, slots | parts << 32});
      for (int64_t at = 0; at < count; at += chunk) {
        const int64_t part = std::min(chunk, count - at);
        tasks.push_back({part, (begin + at) | part << 40, row | slots++ << 32});
      }
    }
    std::stable_sort(tasks.begin(), tasks.end(),
                     [](const Packed& a, const Packed& b) { return a.count > b.count; });
    for (const Packed& task : tasks) g.tasks.insert(g.tasks.end(), {task.first, task.second});
    for (int i = 0; i < 3; ++i) g.tasks.insert(g.tasks.end(), {0, -1});
    while (static_cast<int64_t>(g.splits.size()) < slots + 2) {
      g.splits.insert(g.splits.end(), {-1, 0});
    }
    // Entries that belong to no row and must not be read.
    g.indices.insert(g.indices.end(), 5, (int64_t{1} << 31) - 1);
    g.ids.insert(g.ids.end(), 5, (int64_t{1} << 31) - 1);
    return g;
  }

  Host host_;
  DeviceArray<int64_t> indptr_, indices_, ids_;
  DeviceArray<int32_t> indices4_, ids4_;
  DeviceArray<int64_t> tasks_, splits_;
  CsrView view_;
};

}  // namespace sage::attention_test
