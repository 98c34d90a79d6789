// The schedule's sizes, and its construction on the CPU.
#include "sampling/graph/schedule.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "kernels/core/check.h"
#include "sampling/graph/csr_build.h"

namespace sage {
namespace {

constexpr int64_t kMostEdges = (int64_t{1} << 40) - 1;  // a task's first position has 40 bits

}  // namespace

int64_t schedule_chunk(int64_t num_rows, int64_t num_edges) {
  // An H200's multiprocessors, with about a thousand chunks for each.
  constexpr int64_t kChunks = 132 * 1024;
  constexpr int64_t kLeast = 128, kMost = 2048;
  const int64_t for_balance = std::max<int64_t>(num_edges / kChunks, 1);
  // Rows a few times longer than the mean stay whole: most of a dense graph needs no merge.
  const int64_t for_merges = std::clamp<int64_t>(
      4 * std::min(num_edges, kMostEdges) / std::max<int64_t>(num_rows, 1), 1, kMost);
  const auto floor = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(for_balance)));
  const auto ceil = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(for_merges)));
  return std::clamp(std::max(floor, ceil), kLeast, kMost);
}

// A row of d > chunk edges makes ceil(d / chunk) parts, at most d / chunk more than one.
int64_t schedule_num_tasks(int64_t num_rows, int64_t num_edges) {
  return num_rows + num_edges / schedule_chunk(num_rows, num_edges);
}

int64_t schedule_num_splits(int64_t num_rows, int64_t num_edges) {
  return num_edges / schedule_chunk(num_rows, num_edges);
}

void check_schedule_size(int64_t num_rows, int64_t num_edges) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  check(num_edges <= kMostEdges && schedule_num_tasks(num_rows, num_edges) <= kMost &&
            schedule_num_splits(num_rows, num_edges) <= kMost / 2,
        [&] {
          return "a schedule holds less than 2^31 tasks and 2^40 edges; the graph has " +
                 std::to_string(num_rows) + " rows and " + std::to_string(num_edges) +
                 " edges: split it";
        });
}

void csr_schedule_cpu(const int64_t* indptr, int64_t num_rows, int64_t num_edges, int64_t* tasks,
                      int64_t* splits) {
  check_schedule_size(num_rows, num_edges);
  const int64_t chunk = schedule_chunk(num_rows, num_edges);
  const int64_t num_tasks = schedule_num_tasks(num_rows, num_edges);
  const int64_t num_splits = schedule_num_splits(num_rows, num_edges);
  const auto for_tasks = [&](auto&& f) {  // f(row, its shape, part, count), in row order
    for (int64_t row = 0; row < num_rows; ++row) {
      const ScheduledRow r(indptr, row, num_edges, chunk);
      for (int64_t part = 0; part < r.parts; ++part) f(row, r, part, r.count(part, chunk));
    }
  };

  // A counting sort by descending edge count: next[chunk - count] is where such a task goes.
  std::vector<int64_t> next(static_cast<size_t>(chunk) + 2, 0);
  const auto key = [&](int64_t count) { return static_cast<size_t>(chunk - count); };
  for_tasks([&](int64_t, const ScheduledRow&, int64_t, int64_t count) { ++next[key(count) + 1]; });
  for (size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
  const int64_t used_tasks = std::min(next.back(), num_tasks);

  int64_t slots = 0, used_splits = 0;
  for_tasks([&](int64_t row, const ScheduledRow& r, int64_t part, int64_t count) {
    const int64_t at = next[key(count)]++;
    if (r.parts > 1 && part == 0) {
      if (used_splits < num_splits) write_split(splits, used_splits++, row, slots, r.parts);
      slots += r.parts;
    }
    const int64_t slot = r.parts > 1 ? slots - r.parts + part : -1;
    if (at < num_tasks) write_task(tasks, at, r.begin + part * chunk, count, row, slot);
  });
  for (int64_t i = used_tasks; i < num_tasks; ++i) write_task_padding(tasks, i);
  for (int64_t i = used_splits; i < num_splits; ++i) write_split_padding(splits, i);
}

}  // namespace sage
