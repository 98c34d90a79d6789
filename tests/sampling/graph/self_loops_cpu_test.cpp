// Tests of self loops on the CPU: row by row, as the definition says.
#include <gtest/gtest.h>

#include "kernels/core/thread_pool.h"
#include "tests/sampling/graph/graph_cases.h"

namespace sage::graph_tests {
namespace {

Csr expected_self_loops(const Csr& csr, int64_t num_ids) {
  Csr result;
  result.num_src = csr.num_src;
  const int64_t loops = std::min(csr.num_dst(), csr.num_src);
  Ids behind;  // positions in csr
  const auto add = [&](int64_t index, int64_t id) {
    result.indices.push_back(index);
    result.edge_ids.push_back(id);
  };
  for (int64_t row = 0; row < csr.num_dst(); ++row) {
    for (int64_t e = csr.indptr[at(row)]; e < csr.indptr[at(row) + 1]; ++e) {
      if (csr.indices[at(e)] == row && row < loops) {
        behind.push_back(e);
      } else {
        add(csr.indices[at(e)], csr.edge_ids[at(e)]);
      }
    }
    if (row < loops) add(row, num_ids + row);
    result.indptr.push_back(result.num_edges());
  }
  for (int64_t e = csr.indptr.back(); e < csr.num_edges(); ++e) behind.push_back(e);
  for (int64_t e : behind) add(csr.indices[at(e)], csr.edge_ids[at(e)]);
  return result;
}

void expect_self_loops(const Csr& csr, bool with_ids, int32_t bytes, const Executor& executor) {
  const HostCsr host(csr, bytes, bytes);
  const int64_t num_ids = csr.num_edges() + 3;
  const int64_t edges = csr.num_edges() + std::min(csr.num_dst(), csr.num_src);
  Ids indptr(csr.indptr.size(), -77);
  IndexVector indices(edges, bytes), edge_ids(edges, bytes);
  csr_self_loops_cpu(
      {host.view(with_ids), num_ids, indptr.data(), indices.to_write(), edge_ids.to_write()},
      executor);
  Csr input = csr;
  if (!with_ids) std::iota(input.edge_ids.begin(), input.edge_ids.end(), 0);
  const Csr expected = expected_self_loops(input, num_ids);
  EXPECT_EQ(indptr, expected.indptr);
  EXPECT_EQ(indices.values(), expected.indices);
  EXPECT_EQ(edge_ids.values(), expected.edge_ids);
}

TEST(SelfLoopsCpu, OneANode) {
  ThreadPool pool(3);
  for (const Coo& coo : coo_zoo()) {
    SCOPED_TRACE(coo.name);
    const Csr csr = csr_of(coo);
    for (const Executor& executor : {Executor{}, pool.executor()}) {
      expect_self_loops(csr, true, 8, executor);
      expect_self_loops(csr, false, 8, executor);
      if (index_bytes(coo.num_src) == 4) expect_self_loops(csr, true, 4, executor);
    }
  }
}

TEST(SelfLoopsCpu, RefusesAnIndptrThatFalls) {
  const HostCsr host(Csr{{0, 4, 2, 4}, {1, 0, 1, 1}, {0, 1, 2, 3}, 3});
  Ids indptr(4);
  IndexVector indices(7, 4), edge_ids(7, 4);
  EXPECT_THROW(csr_self_loops_cpu(
                   {host.view(), 4, indptr.data(), indices.to_write(), edge_ids.to_write()}, {}),
               Error);
}

}  // namespace
}  // namespace sage::graph_tests
