// The transpose of a CSR graph on the CPU: a stable counting sort by source.
#include <algorithm>

#include "sampling/graph/counting_sort.h"
#include "sampling/graph/csr_build.h"
#include "sampling/graph/faults.h"
#include "sampling/graph/index_types.h"

namespace sage {
namespace {

template <class Index, class Row, class Position>
void transpose(const CsrTranspose& p, const Executor& executor) {
  const CsrView& g = p.graph;
  const auto* const indices = static_cast<const Index*>(g.indices.data);
  auto* const rows = static_cast<Row*>(p.indices.data);
  auto* const perm = static_cast<Position*>(p.perm.data);
  auto* const position = static_cast<Position*>(p.position.data);
  const int64_t owned = owned_edges(g);
  // Edges of no row, and edges from no source, share the last key: they come last, in order.
  counting_sort(
      g.num_edges, g.num_cols + 1, p.indptr, executor,
      [&](int64_t begin, int64_t count, int64_t* keys) {
        for (int64_t j = 0; j < count; ++j) {
          const int64_t src = indices[begin + j];
          keys[j] = begin + j < owned && in_range(src, g.num_cols) ? src : g.num_cols;
        }
      },
      [&](int64_t begin, int64_t count, const int64_t* positions) {
        int64_t row = std::upper_bound(g.indptr, g.indptr + g.num_rows, begin) - g.indptr;
        row = std::max<int64_t>(row - 1, 0);
        const int64_t behind = p.indptr[g.num_cols];
        for (int64_t j = 0; j < count; ++j) {
          const int64_t e = begin + j, to = positions[j];
          while (row < g.num_rows && g.indptr[row + 1] <= e) ++row;
          rows[to] = to < behind ? static_cast<Row>(row) : Row{0};
          perm[to] = static_cast<Position>(e);
          position[e] = static_cast<Position>(to);
        }
      });
}

}  // namespace

void csr_transpose_cpu(const CsrTranspose& p, const Executor& executor) {
  check(p.perm.bytes == p.position.bytes,
        [] { return "perm and position must have the same element type"; });
  dispatch_index(p.graph.indices.bytes, [&]<class Index>(Type<Index>) {
    dispatch_index(p.indices.bytes, [&]<class Row>(Type<Row>) {
      dispatch_index(p.perm.bytes, [&]<class Position>(Type<Position>) {
        transpose<Index, Row, Position>(p, executor);
      });
    });
  });
}

}  // namespace sage
