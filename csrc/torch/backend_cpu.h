// What an op template needs to know of its device, for the CPU: threads, and no demands on
// operands.
#pragma once

#include <optional>

#include "csrc/torch/executor.h"
#include "csrc/torch/tensor_utils.h"

namespace sage::ops {

struct CpuBackend {
  static constexpr int64_t kRowBytes = 1;  // rows of features begin anywhere
  Executor executor = torch_executor();

  explicit CpuBackend(const Tensor&) {}
  static ScheduleArgument schedule(const std::optional<Tensor>&, const std::optional<Tensor>&,
                                   const Tensor&, const char*, const char*) {
    return {};
  }
};

}  // namespace sage::ops
