// The attention ops on the CPU.
#include <torch/csrc/stable/library.h>

#include "csrc/torch/attention_ops.h"
#include "csrc/torch/backend_cpu.h"

namespace sage::ops {
namespace {

struct AttentionCpu : CpuBackend {
  using CpuBackend::CpuBackend;

  template <class T, class Score>
  void forward(const AttentionForward<T>& p, Score score) const {
    attention_forward_cpu(p, score, executor);
  }
  template <class T>
  void delta(int64_t count, int64_t value_dim, const T* grad, const T* out, const Acc<T>* lse,
             Acc<T>* lse_delta) const {
    attention_delta_cpu(count, value_dim, grad, out, lse, lse_delta, executor);
  }
  template <class T, class Score>
  void source_pass(const AttentionSourcePass<T>& p, Score score) const {
    attention_source_pass_cpu(p, score, executor);
  }
  template <class T>
  void aggregate(const Aggregate<T>& p) const {
    aggregate_cpu(p, executor);
  }
  template <class T>
  void edge_sum(const EdgeSum<T>& p) const {
    edge_sum_cpu(p, executor);
  }
  template <class T>
  void edge_dot(const EdgeDot<T>& p) const {
    edge_dot_cpu(p, executor);
  }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(sage, CPU, m) {
  m.impl("attention", TORCH_BOX(&attention<AttentionCpu>));
  m.impl("attention_backward", TORCH_BOX(&attention_backward<AttentionCpu>));
  m.impl("edge_dot", TORCH_BOX(&edge_dot<AttentionCpu>));
}

}  // namespace sage::ops
