// The attention ops on CUDA.
#include <torch/csrc/stable/library.h>

#include "csrc/torch/attention_ops.h"
#include "csrc/torch/backend_cuda.h"

namespace sage::ops {
namespace {

struct AttentionCuda : CudaBackend {
  using CudaBackend::CudaBackend;

  template <class T, class Score>
  void forward(const AttentionForward<T>& p, Score score) const {
    attention_forward_cuda(p, score, device.stream);
  }
  template <class T>
  void delta(int64_t count, int64_t value_dim, const T* grad, const T* out, const Acc<T>* lse,
             Acc<T>* lse_delta) const {
    attention_delta_cuda(count, value_dim, grad, out, lse, lse_delta, device.stream);
  }
  template <class T, class Score>
  void source_pass(const AttentionSourcePass<T>& p, Score score) const {
    attention_source_pass_cuda(p, score, device.stream);
  }
  template <class T>
  void aggregate(const Aggregate<T>& p) const {
    aggregate_cuda(p, device.stream);
  }
  template <class T>
  void edge_sum(const EdgeSum<T>& p) const {
    edge_sum_cuda(p, device.stream);
  }
  template <class T>
  void edge_dot(const EdgeDot<T>& p) const {
    edge_dot_cuda(p, device.stream);
  }
};

// The ceiling of the forward for benches: the rows of k (and v) summed, nothing else.
Tensor gather_ceiling(const Tensor& indptr, const Tensor& indices, const Tensor& tasks,
                      const Tensor& splits, const Tensor& k, std::optional<Tensor> v) {
  const DType dtype = dtype_of(k, "k");
  check_features(k, "k");
  if (v) {
    check_like(*v, "v", k, "k");
    check_shape(*v, "v", {k.size(0), k.size(1), k.size(2)}, "the shape of k");
  }
  const CsrArgument graph = csr_argument(indptr, indices, std::nullopt, k.size(0));
  check_same_device(indptr, "indptr", k, "k");
  const AttentionCuda backend(k);
  const ScheduleArgument schedule = required_schedule(tasks, splits, k);
  const int64_t wide = padded_dim(k.size(2), k.scalar_type(), CudaBackend::kRowBytes);
  const Tensor first = aligned_rows(k, wide, CudaBackend::kRowBytes);
  std::optional<Tensor> second;
  if (v) second = aligned_rows(*v, wide, CudaBackend::kRowBytes);
  const Tensor out = new_tensor(k, {graph.view.num_rows, k.size(1), wide}, k.scalar_type());
  dispatch_dtype(dtype, [&]<class T>(Type<T>) {
    GatherCeiling<T> p;
    p.graph = graph.view;
    p.schedule = schedule.view;
    p.row_elements = k.size(1) * wide;
    p.k = data<T>(first);
    p.v = data<T>(second);
    p.out = mutable_data<T>(out);
    if (graph.view.num_rows > 0) gather_ceiling_cuda(p, backend.device.stream);
  });
  return without_padding(out, k.size(2));
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(sage, CUDA, m) {
  m.impl("attention", TORCH_BOX(&attention<AttentionCuda>));
  m.impl("attention_backward", TORCH_BOX(&attention_backward<AttentionCuda>));
  m.impl("edge_dot", TORCH_BOX(&edge_dot<AttentionCuda>));
  m.impl("gather_ceiling", TORCH_BOX(&gather_ceiling));
}

}  // namespace sage::ops
