// CUDA status checks: they name the call or kernel, the device and CUDA's own text.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "kernels/core/check.h"

namespace sage {

using Stream = cudaStream_t;

inline void cuda_check(cudaError_t status, const char* what) {
  check(status == cudaSuccess, [&] {
    int device = -1;
    cudaGetDevice(&device);
    return std::string(what) + " failed on CUDA device " + std::to_string(device) + ": " +
           cudaGetErrorString(status);
  });
}

// To be called after every launch; `kernel` is the kernel's name.
inline void launch_check(const char* kernel) { cuda_check(cudaGetLastError(), kernel); }

}  // namespace sage
