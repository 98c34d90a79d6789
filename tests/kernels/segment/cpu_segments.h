// Segments of many lengths, for the tests of the segment operators on the CPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/segment/segment.h"
#include "tests/kernels/core/cpu_graphs.h"

namespace sage::cpu_test {

struct SegmentCase {
  std::string name;
  std::vector<int64_t> indptr;
  int64_t num_rows = 0, width = 1;

  int64_t num_segments() const { return static_cast<int64_t>(indptr.size()) - 1; }
  int64_t begin(int64_t s) const { return indptr[static_cast<size_t>(s)]; }
  int64_t end(int64_t s) const { return indptr[static_cast<size_t>(s) + 1]; }
  size_t at(int64_t row, int64_t c) const { return static_cast<size_t>(row * width + c); }
  template <class T>
  Segments<T> view() const {
    return {indptr.data(), num_segments(), num_rows, width};
  }
};

// Rows outside: `before` the first and `behind` the last segment.
inline SegmentCase make_segments(std::string name, const std::vector<int64_t>& lengths,
                                 int64_t before = 0, int64_t behind = 0) {
  SegmentCase c{std::move(name), {before}};
  for (int64_t length : lengths) c.indptr.push_back(c.indptr.back() + length);
  c.num_rows = c.indptr.back() + behind;
  return c;
}

inline std::vector<SegmentCase> segment_cases() {
  const int64_t hub = 2 * RowPlan::kWork + 99;
  std::vector<int64_t> mixed(2500);
  for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = static_cast<int64_t>(i * i % 19);
  const std::vector<SegmentCase> shapes = {make_segments("no segments", {}, 0, 5),
                                           make_segments("empty segments", {0, 0, 0}),
                                           make_segments("one row", {1}),
                                           make_segments("rows outside", {2, 0, 3}, 4, 6),
                                           make_segments("around a block", {31, 32, 33}),
                                           make_segments("a hub", {5, hub, 0, 1}, 1, 1),
                                           make_segments("mixed", mixed)};
  std::vector<SegmentCase> cases;
  for (const SegmentCase& shape : shapes) {
    for (int64_t width : {1, 3, 4, 8, 45}) {
      cases.push_back(shape);
      cases.back().width = width;
      cases.back().name += ", width " + std::to_string(width);
    }
  }
  return cases;
}

}  // namespace sage::cpu_test
