// What counts as a fault of a CSR graph, on CPU and CUDA alike.
#pragma once

#include "kernels/core/csr.h"
#include "sampling/graph/index_types.h"

namespace sage {

// Edges that belong to rows, for any content of indptr. What lies behind them is nobody's, and may
// be anything.
SAGE_HD int64_t owned_edges(const CsrView& graph) {
  const int64_t end = graph.indptr[graph.num_rows];
  return end < 0 ? 0 : end > graph.num_edges ? graph.num_edges : end;
}

// The first row is to blame for indptr[0] != 0. Where all rows before are good, so is
// indptr[row].
SAGE_HD bool is_bad_row(const CsrView& graph, int64_t row) {
  const int64_t begin = graph.indptr[row], end = graph.indptr[row + 1];
  return end < begin || end > graph.num_edges || (row == 0 && begin != 0);
}

SAGE_HD bool is_bad_edge(const CsrView& graph, int64_t edge) {
  return !in_range(graph.indices[edge], graph.num_cols);
}

}  // namespace sage
