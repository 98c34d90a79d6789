// Tests of CSR building on the CPU against std::stable_sort.
#include <gtest/gtest.h>

#include "kernels/core/thread_pool.h"
#include "tests/sampling/graph/graph_cases.h"

namespace sage::graph_tests {
namespace {

void expect_csr(const Coo& coo, int32_t in_bytes, int32_t index_width, int32_t id_width,
                const Executor& executor) {
  const Csr expected = csr_of(coo);
  const IndexVector src(coo.src, in_bytes), dst(coo.dst, in_bytes);
  Ids indptr(at(coo.num_dst) + 1, -77);
  IndexVector indices(coo.num_edges(), index_width), edge_ids(coo.num_edges(), id_width);
  int64_t num_invalid = -77;
  coo_to_csr_cpu({dst.span(), src.span(), coo.num_edges(), coo.num_dst, coo.num_src, indptr.data(),
                  indices.to_write(), edge_ids.to_write(), &num_invalid},
                 executor);
  EXPECT_EQ(indptr, expected.indptr);
  EXPECT_EQ(edge_ids.values(), expected.edge_ids);
  EXPECT_EQ(num_invalid, coo.num_edges() - expected.indptr.back());
  const auto owned = static_cast<std::ptrdiff_t>(expected.indptr.back());
  const Ids got = indices.values();
  EXPECT_EQ(Ids(got.begin(), got.begin() + owned),
            Ids(expected.indices.begin(), expected.indices.begin() + owned));
}

TEST(CooToCsrCpu, MatchesStableSort) {
  ThreadPool two(2), five(5);
  for (const Coo& coo : coo_zoo()) {
    SCOPED_TRACE(coo.name);
    const int32_t width = index_bytes(coo.num_src);
    for (const Executor& executor : {Executor{}, two.executor(), five.executor()}) {
      expect_csr(coo, 8, width, 4, executor);
      expect_csr(coo, 8, 8, 8, executor);
      if (coo.fits_int32()) expect_csr(coo, 4, width, 4, executor);
    }
  }
}

TEST(CooToCsrCpu, RefusesOtherWidths) {
  CooToCsr p;
  p.dst.bytes = 2;
  EXPECT_THROW(coo_to_csr_cpu(p, {}), Error);
}

}  // namespace
}  // namespace sage::graph_tests
