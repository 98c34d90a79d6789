// Checks of a CSR graph on the CPU. Nothing is read through a value that was not checked before.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "sampling/graph/csr_build.h"
#include "sampling/graph/faults.h"

namespace sage {
namespace {

// The smallest i in [0, n) for which bad(i) holds, or -1.
template <class Bad>
int64_t first_bad(int64_t n, const Executor& executor, Bad&& bad) {
  constexpr int64_t kGrain = 65536;
  std::atomic<int64_t> first{n};
  parallel_for(executor, n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < std::min(end, first.load(std::memory_order_relaxed)); ++i) {
      if (!bad(i)) continue;
      int64_t seen = first.load();
      while (i < seen && !first.compare_exchange_weak(seen, i)) {
      }
      return;
    }
  });
  return first == n ? -1 : first.load();
}

}  // namespace

void csr_validate_cpu(const CsrView& graph, CsrFaults* faults, const Executor& executor) {
  faults->first_bad_row =
      first_bad(graph.num_rows, executor, [&](int64_t row) { return is_bad_row(graph, row); });
  if (graph.num_rows == 0 && graph.indptr[0] != 0) faults->first_bad_row = 0;
  faults->first_bad_edge = first_bad(owned_edges(graph), executor,
                                     [&](int64_t edge) { return is_bad_edge(graph, edge); });
}

}  // namespace sage
