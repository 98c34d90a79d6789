// Cutting rows into ranges and parts of equal work, without a look at every row.
#include "kernels/core/row_plan.h"

#include <algorithm>

namespace sage {

RowPlan::RowPlan(const int64_t* indptr, int64_t num_rows) {
  // The most rows, from `row` on, that fit into one range.
  const auto range_end = [&](int64_t row) {
    const int64_t limit = indptr[row] + row + kWork;
    const auto fits = [&](int64_t end) { return end <= num_rows && indptr[end] + end <= limit; };
    int64_t end = row, step = 1;  // rows up to `end` fit: gallop, then bisect
    while (fits(end + step)) end += step, step *= 2;
    for (step /= 2; step > 0; step /= 2) {
      if (fits(end + step)) end += step;
    }
    return end;
  };
  for (int64_t row = 0; row < num_rows;) {
    const int64_t end = range_end(row);
    if (end > row) {
      ranges.push_back({row, end});
      row = end;
      continue;
    }
    for (int64_t e = indptr[row], part = 0; e < indptr[row + 1]; e += kWork, ++part) {
      parts.push_back({row, e, std::min(e + kWork, indptr[row + 1]), part});
    }
    ++row;
  }
}

}  // namespace sage
