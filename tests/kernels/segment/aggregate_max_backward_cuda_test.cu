// aggregate_max_backward_cuda against its formula in double.
#include "kernels/segment/aggregate.h"
#include "tests/kernels/segment/cuda_fixture.cuh"

namespace sage {
namespace {

using namespace sage::segment::testing;

template <class T>
using MaxBackwardCuda = CudaTest<T>;
TYPED_TEST_SUITE(MaxBackwardCuda, ElementTypes);

struct Case {
  int64_t heads, dim, weight_heads;  // weight_heads 0: no weights
  int32_t index_bytes = 4;
};

template <class T>
void expect_formula(const TestGraph& g, const Case& c) {
  SCOPED_TRACE(g.name + ", H = " + std::to_string(c.heads) + ", D = " + std::to_string(c.dim) +
               ", weight heads = " + std::to_string(c.weight_heads));
  const TestGraph t = transpose(g);
  const int64_t row = c.heads * c.dim, rows = g.num_rows(), cols = g.num_cols,
                edges = g.num_edges();
  // Any edge of the row may have won; -1 where there is none.
  std::vector<int64_t> arg(static_cast<size_t>(rows * row), -1);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t degree = g.indptr[i + 1] - g.indptr[i];
    for (int64_t f = 0; f < row && degree > 0; ++f) {
      arg[static_cast<size_t>(i * row + f)] = g.edge_ids[g.indptr[i] + (i + f * 17) % degree];
    }
  }
  std::vector<double> dx(static_cast<size_t>(cols * row)), dweight(edges * c.heads);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t e = g.indptr[i]; e < g.indptr[i + 1]; ++e) {
      const int64_t id = g.edge_ids[e], j = g.indices[e];
      for (int64_t f = 0; f < row; ++f) {
        if (arg[i * row + f] != id) continue;
        const int64_t head = c.weight_heads > 1 ? f / c.dim : 0;
        const double w = c.weight_heads ? exact_weight(id * c.weight_heads + head) : 1;
        dx[j * row + f] += w * exact_value(i * row + f + 5);
        dweight[id * c.heads + f / c.dim] +=
            exact_value(i * row + f + 5) * exact_value(j * row + f);
      }
    }
  }

  const DeviceGraph device(t, 100, c.index_bytes, true);
  const DeviceArray<T> x(filled<T>(cols * row, exact_value));
  const DeviceArray<T> grad(filled<T>(rows * row, [](int64_t i) { return exact_value(i + 5); }));
  const DeviceArray<T> weight(
      filled<T>(edges * std::max<int64_t>(c.weight_heads, 1), exact_weight));
  const DeviceArray<int64_t> device_arg(arg);
  const DeviceArray<T> device_dx(filled<T>(cols * row, [](int64_t) { return 77; }));
  const DeviceArray<T> device_dweight(filled<T>(edges * c.heads, [](int64_t) { return 0; }));
  const DeviceArray<Acc<T>> partial(std::vector<Acc<T>>(
      static_cast<size_t>(aggregate_partial_size<T>(device.schedule(), row, Reduce::kSum))));
  AggregateMaxBackward<T> p;
  p.graph = device.graph(), p.schedule = device.schedule(), p.heads = c.heads, p.dim = c.dim;
  p.x = x.get(), p.grad = grad.get(), p.arg = device_arg.get();
  p.dx = device_dx.get(), p.partial = partial.get();
  if (c.weight_heads > 0) {
    p.weight = weight.get(), p.weight_heads = c.weight_heads, p.dweight = device_dweight.get();
  }
  aggregate_max_backward_cuda(p, nullptr);

  const std::vector<T> got_dx = device_dx.host(), got_dweight = device_dweight.host();
  for (size_t i = 0; i < dx.size(); ++i) {
    ASSERT_EQ(as_double(got_dx[i]), rounded<T>(dx[i])) << "dx " << i;
  }
  for (size_t i = 0; c.weight_heads > 0 && i < dweight.size(); ++i) {
    ASSERT_EQ(as_double(got_dweight[i]), rounded<T>(dweight[i])) << "dweight " << i;
  }
}

TYPED_TEST(MaxBackwardCuda, EveryGraph) {
  for (const TestGraph& g : graph_zoo()) {
    expect_formula<TypeParam>(g, {.heads = 3, .dim = 8, .weight_heads = 0});
    expect_formula<TypeParam>(g, {.heads = 2, .dim = 16, .weight_heads = 1});
    expect_formula<TypeParam>(g, {.heads = 8, .dim = 8, .weight_heads = 8, .index_bytes = 8});
  }
}

TYPED_TEST(MaxBackwardCuda, EveryRowSize) {
  const TestGraph g = make_graph("row sizes", {9, 0, 250, 1}, 40, 2);
  for (int64_t dim : {8, 40, 128, 512, 1040}) {
    for (int64_t heads : {1, 3}) {
      expect_formula<TypeParam>(g, {.heads = heads, .dim = dim, .weight_heads = heads});
    }
  }
}

}  // namespace
}  // namespace sage
