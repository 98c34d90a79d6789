// The executor of CPU ops: torch's own threads, so that torch.set_num_threads rules here too.
#pragma once

#include <torch/csrc/stable/ops.h>

#include <cstdint>
#include <exception>
#include <mutex>

#include "kernels/core/parallel.h"

namespace sage::ops {

inline Executor torch_executor() {
  Executor executor;
  executor.num_threads = static_cast<int32_t>(torch::stable::get_num_threads());
  executor.run = [](void*, int64_t n, int64_t grain, Executor::Body body, void* context) {
    // An exception must not cross torch's C interface, which would keep its text only.
    std::exception_ptr error;
    std::mutex mutex;
    torch::stable::parallel_for(0, n, grain, [&](int64_t begin, int64_t end) {
      try {
        body(context, begin, end);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    });
    if (error) std::rethrow_exception(error);
  };
  return executor;
}

}  // namespace sage::ops
