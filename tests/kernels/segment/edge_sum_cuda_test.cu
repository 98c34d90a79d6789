// edge_sum_cuda against its formula in double.
#include "kernels/segment/aggregate.h"
#include "tests/kernels/segment/cuda_fixture.cuh"

namespace sage {
namespace {

using namespace sage::segment::testing;

template <class T>
using EdgeSumCuda = CudaTest<T>;
TYPED_TEST_SUITE(EdgeSumCuda, ElementTypes);

template <class T>
void expect_formula(const TestGraph& g, int64_t heads, int32_t bytes, bool at_position) {
  SCOPED_TRACE(g.name + ", H = " + std::to_string(heads));
  const DeviceGraph device(g, 100, bytes, !at_position);
  const DeviceIndex position(g.edge_ids, bytes);
  const DeviceArray<T> weight(filled<T>(g.num_edges() * heads, exact_value));
  const DeviceArray<T> out(filled<T>(g.num_rows() * heads, [](int64_t) { return 77; }));
  const DeviceArray<Acc<T>> partial(std::vector<Acc<T>>(
      static_cast<size_t>(aggregate_partial_size<T>(device.schedule(), heads, Reduce::kSum))));
  EdgeSum<T> p;
  p.graph = device.graph(), p.schedule = device.schedule(), p.heads = heads;
  p.weight = weight.get(), p.out = out.get(), p.partial = partial.get();
  if (at_position) p.weight_position = position.view();
  edge_sum_cuda(p, nullptr);
  const std::vector<T> got = out.host();
  for (int64_t i = 0; i < g.num_rows(); ++i) {
    for (int64_t h = 0; h < heads; ++h) {
      double sum = 0;
      for (int64_t e = g.indptr[i]; e < g.indptr[i + 1]; ++e) {
        sum += exact_value(g.edge_ids[e] * heads + h);
      }
      ASSERT_EQ(as_double(got[static_cast<size_t>(i * heads + h)]), rounded<T>(sum))
          << "row " << i << ", head " << h;
    }
  }
}

TYPED_TEST(EdgeSumCuda, EveryGraphAndHeadCount) {
  for (const TestGraph& g : graph_zoo()) {
    for (int64_t heads : {1, 2, 3, 4, 8, 16, 33, 100}) {
      expect_formula<TypeParam>(g, heads, 4, false);
      expect_formula<TypeParam>(g, heads, 8, true);
    }
  }
}

}  // namespace
}  // namespace sage
