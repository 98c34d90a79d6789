// The segment ops on CUDA.
#include <torch/csrc/stable/library.h>

#include "csrc/torch/backend_cuda.h"
#include "csrc/torch/segment_ops.h"

namespace sage::ops {
namespace {

struct SegmentCuda : CudaBackend {
  using CudaBackend::CudaBackend;

  template <class T>
  void softmax(const Segments<T>& s, const T* src, T* out) const {
    segment_softmax_cuda(s, src, out, device.stream);
  }
  template <class T>
  void softmax_backward(const Segments<T>& s, const T* grad, const T* out, T* dsrc) const {
    segment_softmax_backward_cuda(s, grad, out, dsrc, device.stream);
  }
  template <class T>
  void reduce(const Segments<T>& s, Reduce reduce, const T* src, T* out, int64_t* arg) const {
    segment_reduce_cuda(s, reduce, src, out, arg, device.stream);
  }
  template <class T>
  void reduce_backward(const Segments<T>& s, Reduce reduce, const T* grad, const int64_t* arg,
                       T* dsrc) const {
    segment_reduce_backward_cuda(s, reduce, grad, arg, dsrc, device.stream);
  }
  template <class T>
  void aggregate(const Aggregate<T>& p) const {
    aggregate_cuda(p, device.stream);
  }
  template <class T>
  void aggregate_max_backward(const AggregateMaxBackward<T>& p) const {
    aggregate_max_backward_cuda(p, device.stream);
  }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(sage, CUDA, m) {
  m.impl("segment_softmax", TORCH_BOX(&segment_softmax<SegmentCuda>));
  m.impl("segment_softmax_backward", TORCH_BOX(&segment_softmax_backward<SegmentCuda>));
  m.impl("segment_reduce", TORCH_BOX(&segment_reduce<SegmentCuda>));
  m.impl("segment_reduce_backward", TORCH_BOX(&segment_reduce_backward<SegmentCuda>));
  m.impl("aggregate", TORCH_BOX(&aggregate<SegmentCuda>));
  m.impl("aggregate_max_backward", TORCH_BOX(&aggregate_max_backward<SegmentCuda>));
}

}  // namespace sage::ops
