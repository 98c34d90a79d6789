// The loop of every CPU kernel that reduces the edges of each row: threads, long rows, scratch.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/parallel.h"
#include "kernels/core/row_plan.h"

namespace sage {

// Elements of S: of the partial result of some edges of a row, and of what push() needs besides.
struct ReduceSizes {
  int64_t partial = 0, scratch = 0;
};

// For each row, in this order, on some thread:
//   push(row, begin, end, partial, scratch)    partial = what edges [begin, end) add up to
//   merge(partial, other)                      for long rows, whose parts are pushed in parallel:
//                                              partial += other, other being the next in edge order
//   finish(row, partial)                       once; may change partial
//   spread(row, begin, end, partial)           for each part of a long row, in parallel; else once
template <class S, class Push, class Merge, class Finish, class Spread>
void reduce_and_spread_rows(const int64_t* indptr, int64_t num_rows, const Executor& executor,
                            ReduceSizes sizes, Push&& push, Merge&& merge, Finish&& finish,
                            Spread&& spread) {
  const RowPlan plan(indptr, num_rows);
  const auto num_ranges = static_cast<int64_t>(plan.ranges.size());
  const auto num_parts = static_cast<int64_t>(plan.parts.size());
  const auto part_at = [&](int64_t i) { return plan.parts[static_cast<size_t>(i)]; };
  std::vector<S> slots(static_cast<size_t>(num_parts * sizes.partial));
  const auto slot = [&](int64_t i) { return slots.data() + i * sizes.partial; };

  parallel_for(executor, num_parts + num_ranges, 1, [&](int64_t first, int64_t last) {
    std::vector<S> storage(static_cast<size_t>(sizes.partial + sizes.scratch));
    S* partial = storage.data();
    S* scratch = partial + sizes.partial;
    for (int64_t i = first; i < last; ++i) {
      if (i < num_parts) {
        const RowPart part = part_at(i);
        push(part.row, part.begin, part.end, slot(i), scratch);
        continue;
      }
      const RowRange range = plan.ranges[static_cast<size_t>(i - num_parts)];
      for (int64_t row = range.begin; row < range.end; ++row) {
        push(row, indptr[row], indptr[row + 1], partial, scratch);
        finish(row, partial);
        spread(row, indptr[row], indptr[row + 1], partial);
      }
    }
  });
  parallel_for(executor, num_parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      if (part_at(i).part != 0) continue;
      for (int64_t j = i + 1; j < num_parts && part_at(j).part != 0; ++j) merge(slot(i), slot(j));
      finish(part_at(i).row, slot(i));
    }
  });
  parallel_for(executor, num_parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const RowPart part = part_at(i);
      spread(part.row, part.begin, part.end, slot(i - part.part));
    }
  });
}

template <class S, class Push, class Merge, class Finish>
void reduce_rows(const int64_t* indptr, int64_t num_rows, const Executor& executor,
                 ReduceSizes sizes, Push&& push, Merge&& merge, Finish&& finish) {
  reduce_and_spread_rows<S>(indptr, num_rows, executor, sizes, push, merge, finish,
                            [](int64_t, int64_t, int64_t, const S*) {});
}

}  // namespace sage
