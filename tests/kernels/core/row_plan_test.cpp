// Cutting rows for threads: every edge once, pieces of bounded work, the same for any caller.
#include "kernels/core/row_plan.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace sage {
namespace {

std::vector<int64_t> indptr_of(const std::vector<int64_t>& degrees, int64_t first = 0) {
  std::vector<int64_t> indptr{first};
  for (int64_t degree : degrees) indptr.push_back(indptr.back() + degree);
  return indptr;
}

// Rows of ranges and parts, in order; and what they must hold.
void expect_covers(const std::vector<int64_t>& degrees, int64_t first = 0) {
  const std::vector<int64_t> indptr = indptr_of(degrees, first);
  const RowPlan plan(indptr.data(), static_cast<int64_t>(degrees.size()));
  std::vector<int> times(degrees.size());
  for (const RowRange& range : plan.ranges) {
    ASSERT_LT(range.begin, range.end);
    const int64_t edges =
        indptr[static_cast<size_t>(range.end)] - indptr[static_cast<size_t>(range.begin)];
    EXPECT_LE(edges + range.end - range.begin, RowPlan::kWork);
    for (int64_t row = range.begin; row < range.end; ++row) ++times[static_cast<size_t>(row)];
  }
  int64_t expected_part = 0, expected_begin = 0;
  for (const RowPart& part : plan.parts) {
    const auto row = static_cast<size_t>(part.row);
    if (part.part == 0) {
      ++times[row];
      expected_part = 0, expected_begin = indptr[row];
    }
    EXPECT_EQ(part.part, expected_part++);
    EXPECT_EQ(part.begin, expected_begin);
    EXPECT_GT(part.end, part.begin);
    EXPECT_LE(part.end - part.begin, RowPlan::kWork);
    EXPECT_LE(part.end, indptr[row + 1]);
    expected_begin = part.end;
  }
  EXPECT_EQ(times, std::vector<int>(degrees.size(), 1));
  int64_t cut_edges = 0, cut_degrees = 0;
  for (const RowPart& part : plan.parts) {
    cut_edges += part.end - part.begin;
    if (part.part == 0) cut_degrees += degrees[static_cast<size_t>(part.row)];
  }
  EXPECT_EQ(cut_edges, cut_degrees);
}

TEST(RowPlan, NoRows) {
  const int64_t indptr[] = {0};
  const RowPlan plan(indptr, 0);
  EXPECT_TRUE(plan.ranges.empty());
  EXPECT_TRUE(plan.parts.empty());
}

TEST(RowPlan, EmptyRowsAreCovered) { expect_covers(std::vector<int64_t>(10000)); }

TEST(RowPlan, RowsAroundTheLimit) {
  for (int64_t edges : {-2, -1, 0, 1, 2}) {
    expect_covers({RowPlan::kWork + edges});
    expect_covers({0, RowPlan::kWork + edges, 1, 2 * RowPlan::kWork + edges, 0}, 5);
  }
}

TEST(RowPlan, ManyDegrees) {
  std::vector<int64_t> degrees(20000);
  for (size_t i = 0; i < degrees.size(); ++i) degrees[i] = static_cast<int64_t>(i * i % 37);
  degrees[77] = 100000;
  degrees.back() = 50000;
  expect_covers(degrees);
}

TEST(RowPlan, WorkIsSpread) {
  const std::vector<int64_t> indptr = indptr_of(std::vector<int64_t>(100000, 3));
  const RowPlan plan(indptr.data(), 100000);
  EXPECT_LE(plan.ranges.size(), 2u * 400000u / RowPlan::kWork);
}

}  // namespace
}  // namespace sage
