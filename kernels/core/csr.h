// Views of a graph in CSR by destination, and of the schedule that CUDA kernels follow.
//
// Row i (a destination) owns edges indptr[i] .. indptr[i+1]-1; indices[e] is the edge's source.
// An edge has two names: its position in CSR order, and its id, the caller's order. Arrays may be
// longer than indptr[num_rows]: what lies behind belongs to no row (replaced self loops, dropped
// edges) and no kernel reads it.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"

namespace sage {

// A read-only array of int32 or int64.
struct IndexSpan {
  const void* data = nullptr;
  int32_t bytes = 4;  // of one element: 4 or 8

  SAGE_HD int64_t operator[](int64_t i) const {
    return bytes == 8 ? static_cast<const int64_t*>(data)[i] : static_cast<const int32_t*>(data)[i];
  }
  SAGE_HD explicit operator bool() const { return data != nullptr; }
};

// Trivially copyable, passed by value; owns nothing.
struct CsrView {
  const int64_t* indptr = nullptr;  // [num_rows + 1], non-decreasing, indptr[0] = 0
  IndexSpan indices;                // [num_edges], each in [0, num_cols)
  IndexSpan edge_ids;               // [num_edges] position -> id; null: the identity
  int64_t num_rows = 0;
  int64_t num_cols = 0;
  int64_t num_edges = 0;  // length of indices, at least indptr[num_rows]

  SAGE_HD int64_t edge_id(int64_t position) const {
    return edge_ids ? edge_ids[position] : position;
  }
};

// `id` if it is in [0, count), else count - 1.
SAGE_HD int64_t clamp_id(int64_t id, int64_t count) {
  return static_cast<uint64_t>(id) < static_cast<uint64_t>(count) ? id : count - 1;
}

// One unit of a CUDA kernel's work: `count` edges of one row.
struct Task {
  int64_t begin = 0;  // position of the first edge
  int32_t count = 0;  // number of edges, 0 for a row without edges
  int32_t row = -1;   // -1: padding, nothing to do
  int32_t slot = -1;  // -1: the whole row; else where this part's partial result goes
};

// A row that was cut into parts: slots first_slot .. first_slot+parts-1, in edge order.
struct Split {
  int32_t row = -1;
  int32_t first_slot = 0;
  int32_t parts = 0;  // 0: padding
};

// Tasks, longest first, and the splits to merge afterwards (in slot order, so that results repeat).
// Packed in int64 pairs: task = {begin | count << 40, uint32(row) | slot << 32},
// split = {row, uint32(first_slot) | parts << 32}. Every row occurs in exactly one task or split.
struct ScheduleView {
  const int64_t* tasks = nullptr;   // [num_tasks, 2]
  const int64_t* splits = nullptr;  // [num_splits, 2]
  int64_t num_tasks = 0;
  int64_t num_splits = 0;

  // Upper bound on the slots in use: a split row of p parts has more than (p-1)*chunk edges.
  SAGE_HD int64_t num_slots() const { return 2 * num_splits; }

  SAGE_HD static Task decode_task(int64_t a, int64_t b) {
    return {a & ((int64_t{1} << 40) - 1), static_cast<int32_t>(a >> 40), static_cast<int32_t>(b),
            static_cast<int32_t>(b >> 32)};
  }
  SAGE_HD static Split decode_split(int64_t a, int64_t b) {
    return {static_cast<int32_t>(a), static_cast<int32_t>(b), static_cast<int32_t>(b >> 32)};
  }
};

}  // namespace sage
