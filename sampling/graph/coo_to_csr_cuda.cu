// CSR from a list of edges on the GPU: a radix sort of edge ids by destination.
#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "sampling/graph/device_sort.h"
#include "sampling/graph/row_starts.cuh"

namespace sage {
namespace {

constexpr int kThreads = 256;

// The last key, num_dst, collects what belongs to no row.
__global__ void coo_keys_kernel(CooToCsr p, MutableIndexSpan keys, MutableIndexSpan values) {
  for (const int64_t e : grid_stride(p.num_edges)) {
    const int64_t d = p.dst[e], s = p.src[e];
    store_index(keys, e, in_range(d, p.num_dst) && in_range(s, p.num_src) ? d : p.num_dst);
    store_index(values, e, e);
  }
}

__global__ void coo_edges_kernel(CooToCsr p, IndexSpan order) {
  for (const int64_t position : grid_stride(p.num_edges)) {
    const int64_t e = order[position];
    store_index(p.indices, position, p.src[e]);
    store_index(p.edge_ids, position, e);
  }
}

__global__ void coo_invalid_kernel(CooToCsr p) {
  *p.num_invalid = p.num_edges - p.indptr[p.num_dst];
}

}  // namespace

size_t coo_to_csr_workspace(int64_t num_edges, int64_t num_dst) {
  Workspace workspace;
  DeviceSort(workspace, num_edges, num_dst + 1);
  return workspace.bytes;
}

void coo_to_csr_cuda(const CooToCsr& p, void* workspace, CudaStream stream) {
  Workspace w{workspace};
  DeviceSort sort(w, p.num_edges, p.num_dst + 1);
  const unsigned blocks = blocks_for(p.num_edges, kThreads);
  coo_keys_kernel<<<blocks, kThreads, 0, stream>>>(p, sort.keys(), sort.values());
  launch_check("coo_keys_kernel");
  sort.run(stream);
  coo_edges_kernel<<<blocks, kThreads, 0, stream>>>(p, read_only(sort.values()));
  launch_check("coo_edges_kernel");
  write_row_starts(read_only(sort.keys()), p.num_edges, p.num_dst, p.indptr, stream);
  coo_invalid_kernel<<<1, 1, 0, stream>>>(p);
  launch_check("coo_invalid_kernel");
}

}  // namespace sage
