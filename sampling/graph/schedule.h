// How rows become tasks and splits, shared by the CPU and the CUDA builder.
#pragma once

#include <cstdint>

#include "kernels/core/csr.h"
#include "kernels/core/hd.h"

namespace sage {

// One row in the schedule. Arrays of any content are safe: a row that runs backwards is empty, one
// that runs out of [0, num_edges] is cut.
struct ScheduledRow {
  int64_t begin = 0, degree = 0;
  int64_t parts = 1;  // more than one: the row is split

  SAGE_HD ScheduledRow(const int64_t* indptr, int64_t row, int64_t num_edges, int64_t chunk) {
    begin = clamp(indptr[row], num_edges);
    const int64_t end = clamp(indptr[row + 1], num_edges);
    degree = end > begin ? end - begin : 0;
    parts = degree > chunk ? (degree + chunk - 1) / chunk : 1;
  }
  SAGE_HD int64_t count(int64_t part, int64_t chunk) const {
    const int64_t left = degree - part * chunk;
    return left < chunk ? left : chunk;
  }
  SAGE_HD static int64_t clamp(int64_t x, int64_t num_edges) {
    return x < 0 ? 0 : x > num_edges ? num_edges : x;
  }
};

// ScheduleView's packing.
SAGE_HD void write_task(int64_t* tasks, int64_t at, int64_t begin, int64_t count, int64_t row,
                        int64_t slot) {
  tasks[2 * at] = begin | (count << 40);
  tasks[2 * at + 1] = static_cast<int64_t>((static_cast<uint64_t>(row) & 0xffffffffu) |
                                           (static_cast<uint64_t>(slot) << 32));
}
SAGE_HD void write_split(int64_t* splits, int64_t at, int64_t row, int64_t first_slot,
                         int64_t parts) {
  splits[2 * at] = row;
  splits[2 * at + 1] = static_cast<int64_t>((static_cast<uint64_t>(first_slot) & 0xffffffffu) |
                                            (static_cast<uint64_t>(parts) << 32));
}
SAGE_HD void write_task_padding(int64_t* tasks, int64_t at) { write_task(tasks, at, 0, 0, -1, -1); }
SAGE_HD void write_split_padding(int64_t* splits, int64_t at) { write_split(splits, at, -1, 0, 0); }

// Throws where a schedule's 32-bit rows, tasks or slots would not hold the graph.
void check_schedule_size(int64_t num_rows, int64_t num_edges);

}  // namespace sage
