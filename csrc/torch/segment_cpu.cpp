// The segment ops on the CPU.
#include <torch/csrc/stable/library.h>

#include "csrc/torch/backend_cpu.h"
#include "csrc/torch/segment_ops.h"

namespace sage::ops {
namespace {

struct SegmentCpu : CpuBackend {
  using CpuBackend::CpuBackend;

  template <class T>
  void softmax(const Segments<T>& s, const T* src, T* out) const {
    segment_softmax_cpu(s, src, out, executor);
  }
  template <class T>
  void softmax_backward(const Segments<T>& s, const T* grad, const T* out, T* dsrc) const {
    segment_softmax_backward_cpu(s, grad, out, dsrc, executor);
  }
  template <class T>
  void reduce(const Segments<T>& s, Reduce reduce, const T* src, T* out, int64_t* arg) const {
    segment_reduce_cpu(s, reduce, src, out, arg, executor);
  }
  template <class T>
  void reduce_backward(const Segments<T>& s, Reduce reduce, const T* grad, const int64_t* arg,
                       T* dsrc) const {
    segment_reduce_backward_cpu(s, reduce, grad, arg, dsrc, executor);
  }
  template <class T>
  void aggregate(const Aggregate<T>& p) const {
    aggregate_cpu(p, executor);
  }
  template <class T>
  void aggregate_max_backward(const AggregateMaxBackward<T>& p) const {
    aggregate_max_backward_cpu(p, executor);
  }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(sage, CPU, m) {
  m.impl("segment_softmax", TORCH_BOX(&segment_softmax<SegmentCpu>));
  m.impl("segment_softmax_backward", TORCH_BOX(&segment_softmax_backward<SegmentCpu>));
  m.impl("segment_reduce", TORCH_BOX(&segment_reduce<SegmentCpu>));
  m.impl("segment_reduce_backward", TORCH_BOX(&segment_reduce_backward<SegmentCpu>));
  m.impl("aggregate", TORCH_BOX(&aggregate<SegmentCpu>));
  m.impl("aggregate_max_backward", TORCH_BOX(&aggregate_max_backward<SegmentCpu>));
}

}  // namespace sage::ops
