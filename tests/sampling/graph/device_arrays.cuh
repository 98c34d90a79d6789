// What the CUDA tests of graph builders share: arrays on the device, and a stream of their own.
#pragma once

#include <gtest/gtest.h>

#include "kernels/core/cuda_check.cuh"
#include "tests/sampling/graph/graph_cases.h"

namespace sage::graph_tests {

// Bytes on the device, at first of a pattern that no builder writes.
class DeviceBytes {
 public:
  explicit DeviceBytes(size_t bytes) : bytes_(bytes) {
    cuda_check(cudaMalloc(&data_, bytes + 1), "cudaMalloc");
    cuda_check(cudaMemset(data_, 0xb3, bytes), "cudaMemset");
    cuda_check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  DeviceBytes(const void* host, size_t bytes) : DeviceBytes(bytes) {
    if (bytes > 0) cuda_check(cudaMemcpy(data_, host, bytes, cudaMemcpyHostToDevice), "copy");
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { cudaFree(data_); }

  void* data() const { return data_; }
  void copy_to(void* host) const {
    if (bytes_ > 0) cuda_check(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost), "copy");
  }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

// An array of int32 or int64 on the device.
class DeviceIndex {
 public:
  DeviceIndex(const Ids& values, int32_t bytes)
      : bytes_(bytes), size_(size(values)), memory_(IndexVector(values, bytes).data(), total()) {}
  DeviceIndex(int64_t count, int32_t bytes) : bytes_(bytes), size_(count), memory_(total()) {}

  IndexSpan span() const { return {memory_.data(), bytes_}; }
  MutableIndexSpan to_write() const { return {memory_.data(), bytes_}; }
  int64_t* int64s() const { return static_cast<int64_t*>(memory_.data()); }
  Ids values() const {
    IndexVector host(size_, bytes_);
    memory_.copy_to(host.to_write().data);
    return host.values();
  }

 private:
  size_t total() const { return at(size_ * bytes_); }

  int32_t bytes_;
  int64_t size_;
  DeviceBytes memory_;
};

// A stream that waits for no other.
class SideStream {
 public:
  SideStream() {
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream() { cudaStreamDestroy(stream_); }

  operator Stream() const { return stream_; }
  void wait() const { cuda_check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  Stream stream_ = nullptr;
};

// A CSR graph on the device with a view.
struct DeviceCsr {
  DeviceIndex indptr, indices, edge_ids;
  int64_t num_rows, num_src, num_edges;

  DeviceCsr(const Csr& csr, int32_t bytes, int32_t id_bytes)
      : indptr(csr.indptr, 8),
        indices(csr.indices, bytes),
        edge_ids(csr.edge_ids, id_bytes),
        num_rows(csr.num_dst()),
        num_src(csr.num_src),
        num_edges(csr.num_edges()) {}
  CsrView view(bool with_ids = true) const {
    return {indptr.int64s(), indices.span(), with_ids ? edge_ids.span() : IndexSpan{},
            num_rows,        num_src,        num_edges};
  }
};

class GraphCuda : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU";
  }
};

}  // namespace sage::graph_tests
