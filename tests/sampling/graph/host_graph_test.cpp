// Tests of HostGraph: what it builds, shares, compares and refuses.
#include "sampling/graph/host_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "kernels/core/thread_pool.h"
#include "tests/sampling/graph/graph_cases.h"

namespace sage::graph_tests {
namespace {

using testing::HasSubstr;

Ids values(const IndexArray& array) {
  Ids result;
  for (int64_t i = 0; i < array.size(); ++i) result.push_back(array.span()[i]);
  return result;
}

HostGraph from_coo(const Coo& coo, const Executor& executor = {}) {
  const IndexVector src(coo.src, 8), dst(coo.dst, 8);
  return HostGraph::from_edge_index(src.span(), dst.span(), coo.num_edges(), coo.num_src,
                                    coo.num_dst, executor);
}

HostGraph from_csr(const Ids& indptr, const Ids& indices, int64_t num_src,
                   const Ids& edge_ids = {}) {
  const IndexVector starts(indptr, 8), sources(indices, 8), ids(edge_ids, 8);
  return HostGraph::from_csr(starts.span(), size(indptr) - 1, sources.span(), size(indices),
                             edge_ids.empty() ? IndexSpan{} : ids.span(), num_src, {});
}

template <class E>
void expect_error(const std::function<void()>& f, const std::string& message) {
  try {
    f();
    ADD_FAILURE() << "no error with: " << message;
  } catch (const E& e) {
    EXPECT_THAT(e.what(), HasSubstr(message));
  }
}

TEST(HostGraph, FromEdgeIndexAndBack) {
  ThreadPool pool(3);
  for (const Coo& coo : coo_zoo()) {
    const Csr expected = csr_of(coo);
    if (expected.indptr.back() != coo.num_edges() || coo.num_src > 1000000) continue;
    SCOPED_TRACE(coo.name);
    const HostGraph graph = from_coo(coo, pool.executor());
    EXPECT_EQ(graph.num_dst(), coo.num_dst);
    EXPECT_EQ(graph.num_src(), coo.num_src);
    EXPECT_EQ(values(graph.indptr()), expected.indptr);
    EXPECT_EQ(values(graph.indices()), expected.indices);
    EXPECT_EQ(values(graph.edge_ids()), expected.edge_ids);
    EXPECT_TRUE(graph ==
                from_csr(expected.indptr, expected.indices, coo.num_src, expected.edge_ids));
    // Edges turned round: the same list of edges with src and dst swapped, in the order of graph.
    const HostGraph turned = graph.transpose(pool.executor());
    Ids src, dst;
    for (int64_t e = 0; e < expected.num_edges(); ++e) {
      src.push_back(expected.row(e));
      dst.push_back(expected.indices[at(e)]);
    }
    const Csr again = csr_of({"", src, dst, coo.num_dst, coo.num_src});
    Ids ids;
    for (int64_t position : again.edge_ids) ids.push_back(expected.edge_ids[at(position)]);
    EXPECT_EQ(values(turned.indptr()), again.indptr);
    EXPECT_EQ(values(turned.indices()), again.indices);
    EXPECT_EQ(values(turned.edge_ids()), ids);
  }
}

TEST(HostGraph, InfersSizes) {
  const IndexVector src(Ids{0, 6}, 4), dst(Ids{3, 1}, 4);
  const auto build = [&](std::optional<int64_t> num_src, std::optional<int64_t> num_dst) {
    const HostGraph g = HostGraph::from_edge_index(src.span(), dst.span(), 2, num_src, num_dst, {});
    return std::pair(g.num_src(), g.num_dst());
  };
  EXPECT_EQ(build({}, {}), std::pair(int64_t{7}, int64_t{7}));
  EXPECT_EQ(build(9, {}), std::pair(int64_t{9}, int64_t{9}));
  EXPECT_EQ(build({}, 8), std::pair(int64_t{8}, int64_t{8}));
  EXPECT_EQ(build(7, 4), std::pair(int64_t{7}, int64_t{4}));
  EXPECT_EQ(HostGraph::from_edge_index({}, {}, 0, {}, {}, {}).num_dst(), 0);
}

TEST(HostGraph, WidthFollowsSize) {
  const HostGraph small = from_csr({0, 1}, {5}, int64_t{1} << 31);
  EXPECT_EQ(small.indices().bytes(), 8);
  EXPECT_EQ(small.edge_ids().bytes(), 4);
  EXPECT_EQ(from_csr({0, 1}, {5}, (int64_t{1} << 31) - 1).indices().bytes(), 4);
  EXPECT_EQ(values(from_csr({0, 1}, {int64_t{1} << 40}, int64_t{1} << 41).indices()),
            Ids{int64_t{1} << 40});
}

TEST(HostGraph, SelfLoopsReplaceTheOldOnes) {
  const HostGraph g = from_csr({0, 2, 3}, {0, 1, 0}, 3).with_self_loops({});
  EXPECT_EQ(values(g.indptr()), (Ids{0, 2, 4}));
  EXPECT_EQ(values(g.indices()), (Ids{1, 0, 0, 1, 0}));
  EXPECT_EQ(values(g.edge_ids()), (Ids{1, 3, 2, 4, 0}));
}

TEST(HostGraph, EqualityComparesArrays) {
  const HostGraph g = from_csr({0, 1, 2}, {0, 1}, 2);
  EXPECT_TRUE(g == from_csr({0, 1, 2}, {0, 1}, 2));
  EXPECT_FALSE(g == from_csr({0, 1, 2}, {0, 1}, 3));
  EXPECT_FALSE(g == from_csr({0, 2, 2}, {0, 1}, 2));
  EXPECT_FALSE(g == from_csr({0, 1, 2}, {1, 1}, 2));
  EXPECT_FALSE(g == from_csr({0, 1, 2}, {0, 1}, 2, {1, 0}));
}

TEST(HostGraph, ErrorsNameWhatIsWrong) {
  const Coo good{"", {0, 1}, {0, 1}, 2, 2};
  Coo coo = good;
  coo.src[1] = 4;
  expect_error<IdError>([&] { from_coo(coo); },
                        "edge_index[0, 1] = 4 is not in [0, num_src = 2): pass num_src=5");
  coo = good;
  coo.dst[0] = -1;
  expect_error<IdError>([&] { from_coo(coo); }, "edge_index[1, 0] = -1 is not in [0, num_dst = 2)");
  coo = good;
  coo.num_dst = -3;
  expect_error<Error>([&] { from_coo(coo); }, "num_dst must be a number of nodes >= 0, got -3");
  expect_error<Error>([] { from_csr({1, 2}, {0, 0}, 1); }, "indptr[0] must be 0, got 1");
  expect_error<Error>([] { from_csr({0, 2, 1}, {0, 0}, 1); }, "indptr[1] = 2, indptr[2] = 1");
  expect_error<Error>([] { from_csr({0, 3}, {0, 0}, 1); }, "[0, E = 2]");
  expect_error<IdError>([] { from_csr({0, 2}, {0, 7}, 3); },
                        "indices[1] = 7 is not in [0, num_src");
  expect_error<Error>([] { from_csr({0, 2}, {0, 0}, 1, {1, 1}); }, "edge_ids[1] = 1");
  expect_error<Error>([] { from_csr({0, 2}, {0, 0}, 1, {0, 2}); }, "permutation of 0 .. 1");
}

}  // namespace
}  // namespace sage::graph_tests
