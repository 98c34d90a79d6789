// Segments of many lengths, for the tests of the segment operators.
#pragma once

#include "kernels/segment/segment.h"
#include "tests/kernels/segment/cuda_fixture.cuh"

namespace sage::segment::testing {

struct SegmentCase {
  std::string name;
  std::vector<int64_t> indptr;
  int64_t num_rows = 0;

  template <class T>
  Segments<T> view(const DeviceArray<int64_t>& device_indptr, int64_t width) const {
    return {device_indptr.get(), static_cast<int64_t>(indptr.size()) - 1, num_rows, width};
  }
};

// Segments of the given lengths, after `before` rows and before `behind` rows that none owns.
inline SegmentCase make_segments(const std::string& name, const std::vector<int64_t>& lengths,
                                 int64_t before = 0, int64_t behind = 0) {
  SegmentCase c{name, {before}, 0};
  for (int64_t length : lengths) c.indptr.push_back(c.indptr.back() + length);
  c.num_rows = c.indptr.back() + behind;
  return c;
}

inline std::vector<SegmentCase> segment_cases() {
  std::vector<int64_t> mixed(3000);
  for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = static_cast<int64_t>(i * i % 19);
  std::vector<int64_t> hubs = mixed;
  hubs[0] = 20000, hubs[5] = 300, hubs[6] = 700, hubs[2999] = 1500;
  return {make_segments("no segments, no rows", {}),
          make_segments("no segments", {}, 0, 5),
          make_segments("empty segments", {0, 0, 0}),
          make_segments("one row", {1}),
          make_segments("rows outside", {2, 0, 3}, 4, 6),
          make_segments("around a warp", {31, 32, 33, 0, 1, 2}),
          make_segments("around a thousand", {1023, 1024, 1025}),
          make_segments("one hub", {30000}),
          make_segments("short", mixed),
          make_segments("short and hubs", hubs, 1, 1)};
}

}  // namespace sage::segment::testing
