// Checks of a CSR graph on the GPU. Nothing is read through a value that was not checked before.
#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "sampling/graph/csr_build.h"
#include "sampling/graph/faults.h"

namespace sage {
namespace {

// -1, for nothing, is the largest unsigned value, so that a minimum keeps the first fault.
__device__ void keep_first(int64_t* first, int64_t i) {
  static_assert(sizeof(int64_t) == sizeof(unsigned long long));
  atomicMin(reinterpret_cast<unsigned long long*>(first), static_cast<unsigned long long>(i));
}

__global__ void validate_kernel(CsrView graph, CsrFaults* faults) {
  for (const int64_t row : grid_stride(graph.num_rows)) {
    if (is_bad_row(graph, row)) {
      keep_first(&faults->first_bad_row, row);
      break;
    }
  }
  for (const int64_t edge : grid_stride(owned_edges(graph))) {
    if (is_bad_edge(graph, edge)) {
      keep_first(&faults->first_bad_edge, edge);
      break;
    }
  }
  if (graph.num_rows == 0 && graph.indptr[0] != 0) faults->first_bad_row = 0;
}

}  // namespace

void csr_validate_cuda(const CsrView& graph, CsrFaults* faults, CudaStream stream) {
  constexpr int kThreads = 256;
  constexpr int64_t kMostBlocks = 4096;
  cuda_check(cudaMemsetAsync(faults, 0xff, sizeof(CsrFaults), stream), "cudaMemsetAsync");
  const int64_t items = std::max(graph.num_rows, graph.num_edges);
  validate_kernel<<<blocks_for(items, kThreads, kMostBlocks), kThreads, 0, stream>>>(graph, faults);
  launch_check("validate_kernel");
}

}  // namespace sage
