// The CUDA stream that torch has current. libtorch_cuda is found at first use and never linked, so
// that one binary serves every torch.
#pragma once

#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/tensor.h>

#include <cstdint>
#include <string>

#include "csrc/torch/os.h"
#include "kernels/core/check.h"

struct CUstream_st;

namespace sage::ops {

// The current stream of `device`.
inline CUstream_st* current_stream(int32_t device) {
  constexpr const char* kName = "aoti_torch_get_current_cuda_stream";
  using Function = int32_t (*)(int32_t device, void** stream);
  static const Function function = [] {
    void* const symbol = torch_cuda_symbol(kName);
    check(symbol != nullptr, [] {
      return std::string("this torch brings no ") + kName +
             "; install a CUDA build of torch >= 2.10";
    });
    return reinterpret_cast<Function>(symbol);
  }();
  void* stream = nullptr;
  check(function(device, &stream) == 0,
        [&] { return "no current stream on CUDA device " + std::to_string(device); });
  return static_cast<CUstream_st*>(stream);
}

// The current stream of the device that `tensor` lies on.
inline CUstream_st* current_stream(const torch::stable::Tensor& tensor) {
  return current_stream(tensor.get_device_index());
}

// Makes a tensor's device current for as long as it lives; every CUDA op opens one before it
// allocates or launches.
struct OnDeviceOf {
  torch::stable::accelerator::DeviceGuard guard;
  CUstream_st* stream;

  explicit OnDeviceOf(const torch::stable::Tensor& tensor)
      : guard(tensor.get_device_index()), stream(current_stream(tensor)) {}
};

}  // namespace sage::ops
