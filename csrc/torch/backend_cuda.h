// What an op template needs to know of its device, for CUDA: stream, schedule and aligned rows.
#pragma once

#include <optional>

#include "csrc/torch/stream.h"
#include "csrc/torch/tensor_utils.h"

namespace sage::ops {

struct CudaBackend {
  static constexpr int64_t kRowBytes = 16;  // rows of features are read as 16-byte vectors
  OnDeviceOf device;

  explicit CudaBackend(const Tensor& like) : device(like) {}
  static ScheduleArgument schedule(const std::optional<Tensor>& tasks,
                                   const std::optional<Tensor>& splits, const Tensor& like,
                                   const char* tasks_name, const char* splits_name) {
    return required_schedule(tasks, splits, like, tasks_name, splits_name);
  }
};

}  // namespace sage::ops
