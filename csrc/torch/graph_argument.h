// The graph of an op that reads features through it. Arrays may have been built without a check, or
// changed since: on the CPU their values are checked at each call (1.2M edges on two cores: 0.5 ms,
// of 79 ms that an aggregate of 16 features takes); CUDA kernels stay inside their operands
// whatever the arrays hold.
#pragma once

#include <optional>
#include <string>

#include "csrc/torch/executor.h"
#include "csrc/torch/tensor_utils.h"
#include "sampling/graph/csr_build.h"
#include "sampling/graph/faults.h"

namespace sage::ops {

// Checks ids [0, count) of a CPU array against [0, limit).
inline void check_ids(const IndexSpan& ids, int64_t count, int64_t limit, const char* name) {
  const int64_t bad = first_out_of_range_cpu(ids, count, limit, torch_executor());
  check(bad < 0, [&] {
    return std::string(name) + "[" + std::to_string(bad) + "] = " + std::to_string(ids[bad]) +
           " is not in [0, " + std::to_string(limit) +
           "): the graph was made without a check, or its arrays were changed; build it with "
           "validate=True";
  });
}

inline void check_rows(const CsrView& graph, const CsrNames& names) {
  const int64_t row = first_bad_row_cpu(graph, torch_executor());
  check(row < 0, [&] {
    return std::string(names.indptr) + " must not decrease and must stay in [0, " +
           std::to_string(graph.num_edges) + "], but from " + std::to_string(row) + " on it is " +
           std::to_string(graph.indptr[row]) + ", " + std::to_string(graph.indptr[row + 1]) +
           ": the graph was made without a check, or its arrays were changed";
  });
}

inline CsrArgument graph_argument(const Tensor& indptr, const Tensor& indices,
                                  const std::optional<Tensor>& edge_ids, int64_t num_cols,
                                  const CsrNames& names = {}) {
  CsrArgument a = csr_argument(indptr, indices, edge_ids, num_cols, names);
  if (!indptr.is_cpu()) return a;
  check_rows(a.view, names);
  const int64_t edges = owned_edges(a.view);
  check_ids(a.view.indices, edges, num_cols, names.indices);
  if (edge_ids) check_ids(a.view.edge_ids, edges, a.view.num_edges, names.edge_ids);
  return a;
}

}  // namespace sage::ops
