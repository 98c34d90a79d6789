// Checks of a CSR graph on the CPU. Nothing is read through a value that was not checked before.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sampling/graph/csr_build.h"
#include "sampling/graph/faults.h"
#include "sampling/graph/index_types.h"

namespace sage {
namespace {

// The smallest of the values find(begin, end) over ranges of [0, n), where -1 is none.
template <class Find>
int64_t first_found(int64_t n, const Executor& executor, Find&& find) {
  constexpr int64_t kGrain = 65536;
  std::atomic<int64_t> first{n};
  parallel_for(executor, n, kGrain, [&](int64_t begin, int64_t end) {
    if (begin >= first.load(std::memory_order_relaxed)) return;
    const int64_t found = find(begin, end);
    int64_t seen = first.load();
    while (found >= 0 && found < seen && !first.compare_exchange_weak(seen, found)) {
    }
  });
  return first == n ? -1 : first.load();
}

// Whole blocks are tested without a branch for each id.
template <class Index>
int64_t first_out_of_range(const Index* ids, int64_t begin, int64_t end, int64_t limit) {
  using Unsigned = std::make_unsigned_t<Index>;
  constexpr int64_t kBlock = 1024, kMax = std::numeric_limits<Index>::max();
  if (limit <= 0) return begin < end ? begin : -1;
  const auto last = static_cast<Unsigned>(std::min(limit - 1, kMax));
  const auto bad = [&](int64_t i) { return static_cast<Unsigned>(ids[i]) > last; };
  for (int64_t block = begin; block < end; block += kBlock) {
    const int64_t block_end = std::min(block + kBlock, end);
    Unsigned any = 0;
    for (int64_t i = block; i < block_end; ++i) any |= static_cast<Unsigned>(bad(i));
    if (any == 0) continue;
    for (int64_t i = block;; ++i) {
      if (bad(i)) return i;
    }
  }
  return -1;
}

}  // namespace

int64_t first_out_of_range_cpu(IndexSpan ids, int64_t count, int64_t limit,
                               const Executor& executor) {
  int64_t first = -1;
  dispatch_index(ids.bytes, [&]<class Index>(Type<Index>) {
    const auto* values = static_cast<const Index*>(ids.data);
    first = first_found(count, executor, [&](int64_t begin, int64_t end) {
      return first_out_of_range(values, begin, end, limit);
    });
  });
  return first;
}

int64_t first_bad_row_cpu(const CsrView& graph, const Executor& executor) {
  return first_found(graph.num_rows, executor, [&](int64_t begin, int64_t end) -> int64_t {
    for (int64_t row = begin; row < end; ++row) {
      if (is_bad_row(graph, row)) return row;
    }
    return -1;
  });
}

void csr_validate_cpu(const CsrView& graph, CsrFaults* faults, const Executor& executor) {
  faults->first_bad_row = first_bad_row_cpu(graph, executor);
  if (graph.num_rows == 0 && graph.indptr[0] != 0) faults->first_bad_row = 0;
  faults->first_bad_edge =
      first_out_of_range_cpu(graph.indices, owned_edges(graph), graph.num_cols, executor);
}

}  // namespace sage
