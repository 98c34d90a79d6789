// Degrees for the tests of the schedule, and what a schedule must be.
#pragma once

#include <tuple>

#include "tests/sampling/graph/graph_cases.h"

namespace sage::graph_tests {

struct ScheduleCase {
  std::string name;
  Ids degrees;
  int64_t tail = 0;  // edges behind the rows

  Ids indptr() const {
    Ids starts{0};
    for (int64_t d : degrees) starts.push_back(starts.back() + d);
    return starts;
  }
  int64_t num_rows() const { return size(degrees); }
  int64_t num_edges() const {
    return std::accumulate(degrees.begin(), degrees.end(), int64_t{0}) + tail;
  }
};

inline std::vector<ScheduleCase> schedule_cases() {
  Ids mixed(5000);
  for (int64_t i = 0; i < size(mixed); ++i) mixed[at(i)] = i * i % 37 + (i % 911 == 0 ? 3000 : 0);
  Ids dense(20, 900);
  dense[7] = 100000;
  return {
      {"no rows", {}},
      {"no rows, a tail", {}, 700},
      {"no edges", {0, 0, 0}},
      {"one row", {5}},
      {"around the chunk", {127, 128, 129, 255, 256, 257, 384, 0}},
      {"one hub", {1, 50000, 0, 2}},
      {"hubs among short rows, a tail", mixed, 1000},
      {"dense: a larger chunk", dense},
      {"many equal rows", Ids(3000, 3)},
  };
}

struct Schedule {
  Ids tasks, splits;
};

// The schedule by its definition: parts of rows, stably sorted by descending edge count.
inline Schedule expected_schedule(const ScheduleCase& c) {
  const int64_t chunk = schedule_chunk(c.num_rows(), c.num_edges());
  const Ids indptr = c.indptr();
  struct Part {
    int64_t begin, count, row, slot;
  };
  std::vector<Part> parts;
  Schedule s;
  int64_t slots = 0;
  for (int64_t row = 0; row < c.num_rows(); ++row) {
    const int64_t begin = indptr[at(row)], end = indptr[at(row) + 1];
    if (end - begin <= chunk) {
      parts.push_back({begin, end - begin, row, -1});
      continue;
    }
    const int64_t first = slots;
    for (int64_t e = begin; e < end; e += chunk) {
      parts.push_back({e, std::min(chunk, end - e), row, slots++});
    }
    s.splits.insert(s.splits.end(), {row, first | ((slots - first) << 32)});
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.count > b.count; });
  for (const Part& p : parts) {
    s.tasks.insert(s.tasks.end(),
                   {p.begin | (p.count << 40), p.row | (p.slot * (int64_t{1} << 32))});
  }
  while (size(s.tasks) < 2 * schedule_num_tasks(c.num_rows(), c.num_edges())) {
    s.tasks.insert(s.tasks.end(), {0, -1});
  }
  while (size(s.splits) < 2 * schedule_num_splits(c.num_rows(), c.num_edges())) {
    s.splits.insert(s.splits.end(), {-1, 0});
  }
  return s;
}

}  // namespace sage::graph_tests
