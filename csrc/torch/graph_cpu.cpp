// The graph ops on the CPU.
#include <torch/csrc/stable/library.h>

#include "csrc/torch/executor.h"
#include "csrc/torch/graph_ops.h"

namespace sage::ops {
namespace {

struct GraphCpu {
  Executor executor = torch_executor();

  explicit GraphCpu(const Tensor&) {}
  void from_coo(const CooToCsr& p) const { coo_to_csr_cpu(p, executor); }
  void transpose(const CsrTranspose& p) const { csr_transpose_cpu(p, executor); }
  void self_loops(const CsrSelfLoops& p) const { csr_self_loops_cpu(p, executor); }
  void schedule(const int64_t* indptr, int64_t num_rows, int64_t num_edges, int64_t* tasks,
                int64_t* splits) const {
    csr_schedule_cpu(indptr, num_rows, num_edges, tasks, splits);
  }
  void validate(const CsrView& graph, CsrFaults* faults) const {
    csr_validate_cpu(graph, faults, executor);
  }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(sage, CPU, m) {
  m.impl("csr_from_coo", TORCH_BOX(&csr_from_coo<GraphCpu>));
  m.impl("csr_transpose", TORCH_BOX(&csr_transpose<GraphCpu>));
  m.impl("csr_self_loops", TORCH_BOX(&csr_self_loops<GraphCpu>));
  m.impl("csr_schedule", TORCH_BOX(&csr_schedule<GraphCpu>));
  m.impl("csr_validate", TORCH_BOX(&csr_validate<GraphCpu>));
}

}  // namespace sage::ops
