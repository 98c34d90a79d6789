// Exactly one self loop a node, on the GPU: one thread an edge, so that no row is too long.
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "kernels/core/cuda_check.cuh"
#include "kernels/core/launch.cuh"
#include "sampling/graph/device_scan.cuh"
#include "sampling/graph/faults.h"
#include "sampling/graph/search.cuh"

namespace sage {
namespace {

constexpr int kThreads = 256;

__host__ __device__ int64_t num_loops(const CsrView& g) {
  return g.num_rows < g.num_cols ? g.num_rows : g.num_cols;
}

__device__ bool is_self_loop(const CsrView& g, int64_t e) {
  const int64_t row = g.indices[e];
  return in_range(row, num_loops(g)) && g.indptr[row] <= e && e < g.indptr[row + 1];
}

// 1 for an edge that is replaced; one item more than edges.
struct IsReplaced {
  CsrView graph;
  __device__ int64_t operator()(int64_t e) const {
    return e < owned_edges(graph) && is_self_loop(graph, e) ? 1 : 0;
  }
};
using ReplacedIterator =
    thrust::transform_iterator<IsReplaced, thrust::counting_iterator<int64_t>, int64_t, int64_t>;

struct SelfLoopsWork {
  int64_t* replaced_before;  // [num_edges + 1]
  DeviceScan<int64_t, ReplacedIterator> scan;

  SelfLoopsWork(Workspace& workspace, const CsrView& graph)
      : replaced_before(workspace.take_array<int64_t>(graph.num_edges + 1)),
        scan(workspace, ReplacedIterator(thrust::counting_iterator<int64_t>(0), IsReplaced{graph}),
             replaced_before, graph.num_edges + 1) {}
};

// indptr of the new graph.
__device__ int64_t new_row_begin(const CsrView& g, const int64_t* replaced_before, int64_t row) {
  const int64_t begin = g.indptr[row];
  const int64_t old = begin < 0 ? 0 : begin > g.num_edges ? g.num_edges : begin;
  const int64_t loops = num_loops(g);
  return old - replaced_before[old] + (row < loops ? row : loops);
}

__global__ void self_loops_rows_kernel(CsrSelfLoops p, const int64_t* replaced_before) {
  for (const int64_t row : grid_stride(p.graph.num_rows + 1)) {
    p.indptr[row] = new_row_begin(p.graph, replaced_before, row);
    if (row < num_loops(p.graph)) {
      const int64_t to = new_row_begin(p.graph, replaced_before, row + 1) - 1;
      store_index(p.indices, to, row);
      store_index(p.edge_ids, to, p.num_ids + row);
    }
  }
}

__global__ void self_loops_edges_kernel(CsrSelfLoops p, const int64_t* replaced_before) {
  const CsrView& g = p.graph;
  const int64_t loops = num_loops(g), owned = owned_edges(g);
  const int64_t kept = owned - replaced_before[owned];
  for (const int64_t e : grid_stride(g.num_edges)) {
    int64_t to = e + loops;  // of no row
    if (e < owned && is_self_loop(g, e)) {
      to = kept + loops + replaced_before[e];
    } else if (e < owned) {
      const int64_t row = row_of(g.indptr, g.num_rows, e);
      to = e - replaced_before[e] + (row < loops ? row : loops);
    }
    store_index(p.indices, to, g.indices[e]);
    store_index(p.edge_ids, to, g.edge_id(e));
  }
}

}  // namespace

size_t csr_self_loops_workspace(int64_t num_edges, int64_t num_rows) {
  CsrView graph;
  graph.num_edges = num_edges;
  graph.num_rows = num_rows;
  Workspace workspace;
  SelfLoopsWork(workspace, graph);
  return workspace.bytes;
}

void csr_self_loops_cuda(const CsrSelfLoops& p, void* workspace, CudaStream stream) {
  Workspace w{workspace};
  SelfLoopsWork work(w, p.graph);
  work.scan.run(stream);
  self_loops_rows_kernel<<<blocks_for(p.graph.num_rows + 1, kThreads), kThreads, 0, stream>>>(
      p, work.replaced_before);
  launch_check("self_loops_rows_kernel");
  self_loops_edges_kernel<<<blocks_for(p.graph.num_edges, kThreads), kThreads, 0, stream>>>(
      p, work.replaced_before);
  launch_check("self_loops_edges_kernel");
}

}  // namespace sage
