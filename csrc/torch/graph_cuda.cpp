// The graph ops on CUDA.
#include <torch/csrc/stable/library.h>

#include "csrc/torch/graph_ops.h"
#include "csrc/torch/stream.h"

namespace sage::ops {
namespace {

struct GraphCuda {
  Tensor like;
  OnDeviceOf device;

  explicit GraphCuda(const Tensor& tensor) : like(tensor), device(tensor) {}
  void from_coo(const CooToCsr& p) const {
    const Tensor work = workspace(coo_to_csr_workspace(p.num_edges, p.num_dst));
    coo_to_csr_cuda(p, work.mutable_data_ptr(), device.stream);
  }
  void transpose(const CsrTranspose& p) const {
    const CsrView& g = p.graph;
    const Tensor work = workspace(csr_transpose_workspace(g.num_edges, g.num_rows, g.num_cols));
    csr_transpose_cuda(p, work.mutable_data_ptr(), device.stream);
  }
  void self_loops(const CsrSelfLoops& p) const {
    const Tensor work = workspace(csr_self_loops_workspace(p.graph.num_edges, p.graph.num_rows));
    csr_self_loops_cuda(p, work.mutable_data_ptr(), device.stream);
  }
  void schedule(const int64_t* indptr, int64_t num_rows, int64_t num_edges, int64_t* tasks,
                int64_t* splits) const {
    const Tensor work = workspace(csr_schedule_workspace(num_rows, num_edges));
    csr_schedule_cuda(indptr, num_rows, num_edges, tasks, splits, work.mutable_data_ptr(),
                      device.stream);
  }
  void validate(const CsrView& graph, CsrFaults* faults) const {
    csr_validate_cuda(graph, faults, device.stream);
  }

 private:
  Tensor workspace(size_t bytes) const { return new_workspace(like, bytes); }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(sage, CUDA, m) {
  m.impl("csr_from_coo", TORCH_BOX(&csr_from_coo<GraphCuda>));
  m.impl("csr_transpose", TORCH_BOX(&csr_transpose<GraphCuda>));
  m.impl("csr_self_loops", TORCH_BOX(&csr_self_loops<GraphCuda>));
  m.impl("csr_schedule", TORCH_BOX(&csr_schedule<GraphCuda>));
  m.impl("csr_validate", TORCH_BOX(&csr_validate<GraphCuda>));
}

}  // namespace sage::ops
