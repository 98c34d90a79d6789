// Exactly one self loop a node, on the CPU.
//
// Where edges go follows from three counts: before row i the old graph has indptr[i] edges and the
// new one min(i, loops) loops, so that indptr[i] + min(i, loops) - new_indptr[i] were replaced.
#include <algorithm>
#include <string>

#include "kernels/core/check.h"
#include "sampling/graph/csr_build.h"
#include "sampling/graph/faults.h"
#include "sampling/graph/index_types.h"

namespace sage {
namespace {

template <class Index, class NewIndex, class NewId>
void add_self_loops(const CsrSelfLoops& p, const Executor& executor) {
  constexpr int64_t kGrain = 4096;
  const CsrView& g = p.graph;
  const auto* const indices = static_cast<const Index*>(g.indices.data);
  auto* const new_indices = static_cast<NewIndex*>(p.indices.data);
  auto* const new_ids = static_cast<NewId*>(p.edge_ids.data);
  const int64_t loops = std::min(g.num_rows, g.num_cols);
  const int64_t owned = owned_edges(g);
  const auto is_loop = [&](int64_t row, int64_t e) { return row < loops && indices[e] == row; };

  parallel_for(executor, g.num_rows, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      check(!is_bad_row(g, row), [&] {
        return "indptr must rise from 0 to at most " + std::to_string(g.num_edges) + ", got " +
               std::to_string(g.indptr[row]) + " and " + std::to_string(g.indptr[row + 1]) +
               " at row " + std::to_string(row);
      });
      int64_t kept = row < loops ? 1 : 0;
      for (int64_t e = g.indptr[row]; e < g.indptr[row + 1]; ++e) kept += !is_loop(row, e);
      p.indptr[row + 1] = kept;
    }
  });
  p.indptr[0] = 0;
  for (int64_t row = 0; row < g.num_rows; ++row) p.indptr[row + 1] += p.indptr[row];

  const auto copy = [&](int64_t e, int64_t to) {
    new_indices[to] = static_cast<NewIndex>(indices[e]);
    new_ids[to] = static_cast<NewId>(g.edge_id(e));
  };
  parallel_for(executor, g.num_rows, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t to = p.indptr[row];
      int64_t replaced_to =
          p.indptr[g.num_rows] + g.indptr[row] + std::min(row, loops) - p.indptr[row];
      for (int64_t e = g.indptr[row]; e < g.indptr[row + 1]; ++e) {
        copy(e, is_loop(row, e) ? replaced_to++ : to++);
      }
      if (row < loops) {
        new_indices[to] = static_cast<NewIndex>(row);
        new_ids[to] = static_cast<NewId>(p.num_ids + row);
      }
    }
  });
  for (int64_t e = owned; e < g.num_edges; ++e) copy(e, e + loops);
}

}  // namespace

void csr_self_loops_cpu(const CsrSelfLoops& p, const Executor& executor) {
  dispatch_index(p.graph.indices.bytes, [&]<class Index>(Type<Index>) {
    dispatch_index(p.indices.bytes, [&]<class NewIndex>(Type<NewIndex>) {
      dispatch_index(p.edge_ids.bytes, [&]<class NewId>(Type<NewId>) {
        add_self_loops<Index, NewIndex, NewId>(p, executor);
      });
    });
  });
}

}  // namespace sage
