// Tests of kernels/attention/edge_dot_cuda.cu against dot products in double precision.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/kernels/attention/cuda_problem.cuh"

namespace sage::attention_test {
namespace {

template <class T>
class EdgeDotCuda : public CudaTest {};
using Elements = ::testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(EdgeDotCuda, Elements);

template <class T>
void check_edge_dot(const Problem& p) {
  const int64_t heads = p.shape.heads, dim = p.shape.key_dim;
  SCOPED_TRACE("heads " + std::to_string(heads) + " dim " + std::to_string(dim));
  const DeviceGraph graph(p.edges, p.num_dst, p.num_src, false, p.shape.chunk, p.shape.wide);
  const DeviceArray<T> x(from_double<T>(p.q)), y(from_double<T>(p.k));
  const DeviceArray<T> out(graph.view().num_edges * heads);
  EdgeDot<T> call;
  call.graph = graph.view();
  call.schedule = graph.schedule();
  call.heads = heads, call.dim = dim;
  call.x = x.get(), call.y = y.get(), call.out = out.get();
  edge_dot_cuda<T>(call, nullptr);

  std::vector<double> want(static_cast<size_t>(graph.view().num_edges * heads), kNan);
  for (size_t at = 0; at < graph.order().size(); ++at) {
    const Edge& edge = p.edges[static_cast<size_t>(graph.order()[at])];
    for (int64_t h = 0; h < heads; ++h) {
      double sum = 0;
      for (int64_t c = 0; c < dim; ++c) {
        sum += p.q[static_cast<size_t>((edge.dst * heads + h) * dim + c)] *
               p.k[static_cast<size_t>((edge.src * heads + h) * dim + c)];
      }
      want[at * static_cast<size_t>(heads) + static_cast<size_t>(h)] = sum;
    }
  }
  expect_close(to_double(out.host()), want, kTolerance<T>, "out");  // untouched behind the rows
}

TYPED_TEST(EdgeDotCuda, EveryLayout) {
  uint64_t seed = 1;
  for (int64_t dim : {8, 16, 32, 40, 64, 128, 256, 512}) {
    for (int64_t heads : {1, 3, 4, 8, 17}) {
      const Shape shape{
          .heads = heads, .key_dim = dim, .value_dim = 8, .wide = seed % 2 == 0, .chunk = 33};
      check_edge_dot<TypeParam>(random_problem<DotScore, TypeParam>(shape, seed++));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(EdgeDotCuda, EmptyGraphs) {
  Problem p = random_problem<DotScore, TypeParam>({.heads = 2}, 5);
  p.edges.clear();
  check_edge_dot<TypeParam>(p);
  p.num_dst = 0;
  check_edge_dot<TypeParam>(p);
}

TYPED_TEST(EdgeDotCuda, RefusesUnpaddedRows) {
  Problem p = random_problem<DotScore, TypeParam>({.heads = 2}, 5);
  p.shape.key_dim = 7;
  EXPECT_THROW(check_edge_dot<TypeParam>(p), Error);
}

}  // namespace
}  // namespace sage::attention_test
