// Checks of what the CUDA entry points require of their operands.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/core/check.h"
#include "kernels/core/csr.h"

namespace sage {

// A [rows, heads, dim] operand that is read as 16-byte vectors, at most max_dim elements a head.
inline void check_rows(const char* name, const void* p, int64_t heads, int64_t dim,
                       int64_t element_bytes, int64_t max_dim) {
  check(dim >= 1 && dim <= max_dim && dim * element_bytes % 16 == 0, [&] {
    return std::string(name) + ": dim = " + std::to_string(dim) + " must be in 1.." +
           std::to_string(max_dim) + " and a multiple of " + std::to_string(16 / element_bytes) +
           "; pad it";
  });
  check(heads <= 4294967295 / (dim * element_bytes), [&] {
    return std::string(name) + ": heads = " + std::to_string(heads) +
           " times dim = " + std::to_string(dim) +
           " exceeds 4 GiB a row; use fewer heads at a time";
  });
  check(reinterpret_cast<uintptr_t>(p) % 16 == 0,
        [&] { return std::string(name) + " must be 16-byte aligned; copy it"; });
}

// key_dim of a score that has one number a head.
inline void check_one_number(int64_t key_dim) {
  check(key_dim == 1, [&] {
    return "key_dim = " + std::to_string(key_dim) + " must be 1 for a score of one number a head";
  });
}

// Rows are counted in 31 bits and columns kept in 32-bit registers.
inline void check_graph(const CsrView& graph, const ScheduleView& schedule) {
  check(graph.num_rows < (int64_t{1} << 31), [&] {
    return "num_rows = " + std::to_string(graph.num_rows) +
           " must be below 2^31 on CUDA; split the rows";
  });
  check(graph.num_cols < (int64_t{1} << 32), [&] {
    return "num_cols = " + std::to_string(graph.num_cols) +
           " must be below 2^32 on CUDA; split the columns";
  });
  check(schedule.num_tasks > 0, [&] {
    return "the schedule is empty but num_rows = " + std::to_string(graph.num_rows) +
           "; build it with csr_schedule";
  });
}

}  // namespace sage
