// How CPU kernels share the rows of a CSR among threads: pieces of about equal work, and long rows
// cut into parts. The cut depends on the graph alone, so that results are the same bits on any
// number of threads. Kernels use it through reduce_rows().
#pragma once

#include <cstdint>
#include <vector>

namespace sage {

// Consecutive rows that one thread handles.
struct RowRange {
  int64_t begin = 0, end = 0;
};

// Edges [begin, end) of a row that was cut, the row's part number `part`.
struct RowPart {
  int64_t row = 0, begin = 0, end = 0, part = 0;
};

struct RowPlan {
  // Work of a range, in edges plus rows; also the edges of a part (the last may have fewer).
  static constexpr int64_t kWork = 4096;

  std::vector<RowRange> ranges;  // rows that were not cut
  std::vector<RowPart> parts;    // of the rows that were, in order

  RowPlan(const int64_t* indptr, int64_t num_rows);
};

}  // namespace sage
