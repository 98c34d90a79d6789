// The transpose of a CSR graph on the GPU: a radix sort of positions by source.
#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "sampling/graph/device_sort.h"
#include "sampling/graph/faults.h"
#include "sampling/graph/row_starts.cuh"

namespace sage {
namespace {

constexpr int kThreads = 256;

// Edges of no row, and edges from no source, share the last key: they come last, in order.
__global__ void transpose_keys_kernel(CsrView g, MutableIndexSpan keys, MutableIndexSpan values) {
  const int64_t owned = owned_edges(g);
  for (const int64_t e : grid_stride(g.num_edges)) {
    const int64_t src = g.indices[e];
    store_index(keys, e, e < owned && in_range(src, g.num_cols) ? src : g.num_cols);
    store_index(values, e, e);
  }
}

__global__ void transpose_edges_kernel(CsrTranspose p, IndexSpan keys, IndexSpan order) {
  const CsrView& g = p.graph;
  for (const int64_t to : grid_stride(g.num_edges)) {
    const int64_t e = order[to];
    const bool owned = keys[to] < g.num_cols;
    store_index(p.indices, to, owned ? row_of(g.indptr, g.num_rows, e) : 0);
    store_index(p.perm, to, e);
    store_index(p.position, e, to);
  }
}

}  // namespace

size_t csr_transpose_workspace(int64_t num_edges, int64_t /*num_rows*/, int64_t num_cols) {
  Workspace workspace;
  DeviceSort(workspace, num_edges, num_cols + 1);
  return workspace.bytes;
}

void csr_transpose_cuda(const CsrTranspose& p, void* workspace, CudaStream stream) {
  const CsrView& g = p.graph;
  Workspace w{workspace};
  DeviceSort sort(w, g.num_edges, g.num_cols + 1);
  const unsigned blocks = blocks_for(g.num_edges, kThreads);
  transpose_keys_kernel<<<blocks, kThreads, 0, stream>>>(g, sort.keys(), sort.values());
  launch_check("transpose_keys_kernel");
  sort.run(stream);
  transpose_edges_kernel<<<blocks, kThreads, 0, stream>>>(p, read_only(sort.keys()),
                                                          read_only(sort.values()));
  launch_check("transpose_edges_kernel");
  write_row_starts(read_only(sort.keys()), g.num_edges, g.num_cols, p.indptr, stream);
}

}  // namespace sage
