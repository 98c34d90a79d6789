// Building CSR graphs: from COO, the transpose, self loops, validation and the CUDA schedule. CPU
// and CUDA give the same arrays.
//
// All sorts are stable: edges of one row keep the caller's order. CUDA functions enqueue on
// `stream` and neither allocate nor synchronise; `workspace` has the size that the *_workspace
// function tells.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/core/csr.h"
#include "kernels/core/parallel.h"

struct CUstream_st;

namespace sage {

using CudaStream = CUstream_st*;

// An array of int32 or int64 to be written; bytes is 4 or 8 as in IndexSpan.
struct MutableIndexSpan {
  void* data = nullptr;
  int32_t bytes = 4;
};

// Edge e goes from src[e] to dst[e]. Edges with an id outside [0, num_dst) or [0, num_src) belong
// to no row: they are put behind indptr[num_dst], in order, and counted.
struct CooToCsr {
  IndexSpan dst, src;  // [num_edges]
  int64_t num_edges = 0, num_dst = 0, num_src = 0;
  int64_t* indptr = nullptr;       // [num_dst + 1]
  MutableIndexSpan indices;        // [num_edges]; 4 bytes need num_src < 2^31
  MutableIndexSpan edge_ids;       // [num_edges]; 4 bytes need num_edges < 2^31
  int64_t* num_invalid = nullptr;  // [1]
};
void coo_to_csr_cpu(const CooToCsr& p, const Executor& executor);
void coo_to_csr_cuda(const CooToCsr& p, void* workspace, CudaStream stream);
size_t coo_to_csr_workspace(int64_t num_edges, int64_t num_dst);

// The transpose: rows are sources. perm maps a position in the transpose to the position in
// `graph`, position is its inverse (both keep what lies behind indptr[num_rows] where it is).
struct CsrTranspose {
  CsrView graph;
  int64_t* indptr = nullptr;  // [num_cols + 1]
  MutableIndexSpan indices;   // [num_edges]; 4 bytes need num_rows < 2^31
  MutableIndexSpan perm;      // [num_edges]
  MutableIndexSpan position;  // [num_edges]
};
void csr_transpose_cpu(const CsrTranspose& p, const Executor& executor);
void csr_transpose_cuda(const CsrTranspose& p, void* workspace, CudaStream stream);
size_t csr_transpose_workspace(int64_t num_edges, int64_t num_rows, int64_t num_cols);

// The graph with exactly one self loop a node i < loops = min(num_rows, num_cols): existing loops
// i -> i are replaced. Row i keeps its other edges in order, then its loop with id num_ids + i. The
// edges that were replaced lie behind indptr[num_rows], with their ids.
struct CsrSelfLoops {
  CsrView graph;
  int64_t num_ids = 0;        // ids in use so far; the loops' ids follow
  int64_t* indptr = nullptr;  // [num_rows + 1]
  MutableIndexSpan indices;   // [num_edges + loops]
  MutableIndexSpan edge_ids;  // [num_edges + loops]
};
void csr_self_loops_cpu(const CsrSelfLoops& p, const Executor& executor);
void csr_self_loops_cuda(const CsrSelfLoops& p, void* workspace, CudaStream stream);
size_t csr_self_loops_workspace(int64_t num_edges, int64_t num_rows);

// What is wrong with a CSR graph that a caller brought; -1: nothing.
struct CsrFaults {
  int64_t first_bad_row = -1;   // indptr[row + 1] < indptr[row], or out of [0, num_edges]
  int64_t first_bad_edge = -1;  // indices[edge] outside [0, num_cols)
};
// The first i in [0, count) with ids[i] outside [0, limit), or -1. At the speed of memory.
int64_t first_out_of_range_cpu(IndexSpan ids, int64_t count, int64_t limit,
                               const Executor& executor);
// The first row that breaks indptr, or -1.
int64_t first_bad_row_cpu(const CsrView& graph, const Executor& executor);
void csr_validate_cpu(const CsrView& graph, CsrFaults* faults, const Executor& executor);
void csr_validate_cuda(const CsrView& graph, CsrFaults* faults /* device */, CudaStream stream);

// Edges after which a row is cut: few enough that every multiprocessor gets work, enough that
// merges stay rare. Measured on an H200 (see docs/decisions): 128 on arxiv, 512 on products, 2,048
// on reddit.
int64_t schedule_chunk(int64_t num_rows, int64_t num_edges);
// Sizes of tasks and splits, both upper bounds that need no look at the degrees.
int64_t schedule_num_tasks(int64_t num_rows, int64_t num_edges);
int64_t schedule_num_splits(int64_t num_rows, int64_t num_edges);
// Fills tasks [num_tasks, 2] and splits [num_splits, 2] as ScheduleView packs them: tasks by
// descending edge count, ties by row and position; padding last.
void csr_schedule_cpu(const int64_t* indptr, int64_t num_rows, int64_t num_edges, int64_t* tasks,
                      int64_t* splits);
void csr_schedule_cuda(const int64_t* indptr, int64_t num_rows, int64_t num_edges, int64_t* tasks,
                       int64_t* splits, void* workspace, CudaStream stream);
size_t csr_schedule_workspace(int64_t num_rows, int64_t num_edges);

}  // namespace sage
