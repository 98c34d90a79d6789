// Tests of the transpose on the CPU against std::stable_sort.
#include <gtest/gtest.h>

#include "kernels/core/thread_pool.h"
#include "tests/sampling/graph/graph_cases.h"

namespace sage::graph_tests {
namespace {

struct Transposed {
  Ids indptr;
  IndexVector indices, perm, position;

  Transposed(const HostCsr& csr, int32_t row_bytes, int32_t position_bytes,
             const Executor& executor)
      : indptr(at(csr.num_src) + 1, -77),
        indices(csr.view().num_edges, row_bytes),
        perm(csr.view().num_edges, position_bytes),
        position(csr.view().num_edges, position_bytes) {
    csr_transpose_cpu(
        {csr.view(), indptr.data(), indices.to_write(), perm.to_write(), position.to_write()},
        executor);
  }
};

void expect_transpose(const Csr& csr, const Transposed& t) {
  Ids keys(csr.indices.size());
  for (int64_t e = 0; e < csr.num_edges(); ++e) {
    const int64_t src = csr.indices[at(e)];
    keys[at(e)] = csr.owned(e) && src >= 0 && src < csr.num_src ? src : csr.num_src;
  }
  const Ids order = stable_order(keys);
  EXPECT_EQ(t.indptr, row_starts(keys, csr.num_src));
  EXPECT_EQ(t.perm.values(), order);
  const Ids indices = t.indices.values(), position = t.position.values();
  for (int64_t to = 0; to < csr.num_edges(); ++to) {
    ASSERT_EQ(position[at(order[at(to)])], to);
    if (to < t.indptr.back()) {
      ASSERT_EQ(indices[at(to)], csr.row(order[at(to)]));
    }
  }
}

TEST(TransposeCpu, MatchesStableSort) {
  ThreadPool pool(3);
  for (const Coo& coo : coo_zoo()) {
    if (coo.num_src > 1000000) continue;  // the transpose has as many rows
    SCOPED_TRACE(coo.name);
    const Csr csr = csr_of(coo);
    for (const Executor& executor : {Executor{}, pool.executor()}) {
      expect_transpose(csr, Transposed(HostCsr(csr), 4, 4, executor));
      expect_transpose(csr, Transposed(HostCsr(csr, 8, 8), 8, 8, executor));
    }
  }
}

TEST(TransposeCpu, EdgesOfNoRowStayWhereTheyAre) {
  const Csr csr{{0, 2, 3}, {1, 0, 1, 7, 7}, {0, 1, 2, 3, 4}, 2};
  const Transposed t(HostCsr(csr), 4, 4, {});
  EXPECT_EQ(t.indptr, (Ids{0, 1, 3}));
  EXPECT_EQ(t.indices.values(), (Ids{0, 0, 1, 0, 0}));
  EXPECT_EQ(t.perm.values(), (Ids{1, 0, 2, 3, 4}));
}

TEST(TransposeCpu, SourcesOutOfRangeGoBehindTheRows) {
  const Csr csr{{0, 3, 4}, {-1, 1, 9, 0, 5}, {0, 1, 2, 3, 4}, 2};
  const Transposed t(HostCsr(csr), 4, 4, {});
  EXPECT_EQ(t.indptr, (Ids{0, 1, 2}));
  EXPECT_EQ(t.perm.values(), (Ids{3, 1, 0, 2, 4}));
}

TEST(TransposeCpu, SurvivesAnIndptrOfAnyContent) {
  const int64_t far = int64_t{1} << 60;
  for (const Ids& indptr : {Ids{0, 5, 2}, Ids{-7, far, -far}, Ids{far, far, far}, Ids{3, 2, 4}}) {
    const Csr csr{indptr, {1, 0, 1, 1}, {0, 1, 2, 3}, 2};
    const Transposed t(HostCsr(csr), 4, 4, {});
    Ids perm = t.perm.values();
    std::sort(perm.begin(), perm.end());
    EXPECT_EQ(perm, (Ids{0, 1, 2, 3}));
  }
}

}  // namespace
}  // namespace sage::graph_tests
