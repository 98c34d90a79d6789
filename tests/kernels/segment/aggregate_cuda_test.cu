// aggregate_cuda against its formula in double.
#include <cmath>
#include <limits>

#include "kernels/segment/aggregate.h"
#include "tests/kernels/segment/cuda_fixture.cuh"

namespace sage {
namespace {

using namespace sage::segment::testing;

template <class T>
using AggregateCuda = CudaTest<T>;
TYPED_TEST_SUITE(AggregateCuda, ElementTypes);

enum class Weights { kNone, kPerEdge, kPerHead, kPerHeadAtPosition };

struct Case {
  int64_t heads, dim;
  Reduce reduce;
  Weights weights = Weights::kNone;
  int64_t chunk = 100;
  int32_t index_bytes = 4;
  bool with_ids = true;
};

template <class T>
struct Result {
  std::vector<T> out;
  std::vector<int64_t> arg;
};

template <class T, class F>
Result<T> run(const TestGraph& g, const Case& c, F&& x_value) {
  const DeviceGraph device(g, c.chunk, c.index_bytes, c.with_ids);
  const int64_t row = c.heads * c.dim, weight_heads = c.weights == Weights::kPerEdge ? 1 : c.heads;
  const DeviceArray<T> x(filled<T>(g.num_cols * row, x_value));
  const DeviceArray<T> weight(filled<T>(g.num_edges() * weight_heads, exact_weight));
  const DeviceIndex position(g.edge_ids, c.index_bytes);
  const DeviceArray<T> out(filled<T>(g.num_rows() * row, [](int64_t) { return 77; }));
  const DeviceArray<int64_t> arg(std::vector<int64_t>(static_cast<size_t>(g.num_rows() * row), 77));
  const DeviceArray<Acc<T>> partial(std::vector<Acc<T>>(
      static_cast<size_t>(aggregate_partial_size<T>(device.schedule(), row, c.reduce))));
  Aggregate<T> p;
  p.graph = device.graph(), p.schedule = device.schedule();
  p.heads = c.heads, p.dim = c.dim, p.reduce = c.reduce;
  p.x = x.get(), p.out = out.get(), p.arg = arg.get(), p.partial = partial.get();
  if (c.weights != Weights::kNone) p.weight = weight.get(), p.weight_heads = weight_heads;
  if (c.weights == Weights::kPerHeadAtPosition) p.weight_position = position.view();
  aggregate_cuda(p, nullptr);
  return {out.host(), arg.host()};
}

template <class T>
void expect_formula(const TestGraph& g, const Case& c) {
  SCOPED_TRACE(g.name + ", H = " + std::to_string(c.heads) + ", D = " + std::to_string(c.dim) +
               ", reduce = " + std::to_string(static_cast<int>(c.reduce)) +
               ", weights = " + std::to_string(static_cast<int>(c.weights)));
  const Result<T> got = run<T>(g, c, exact_value);
  const int64_t row = c.heads * c.dim;
  for (int64_t i = 0; i < g.num_rows(); ++i) {
    const int64_t begin = g.indptr[i], end = g.indptr[i + 1];
    for (int64_t f = 0; f < row; ++f) {
      double sum = 0, best = 0;
      int64_t winner = -1;
      for (int64_t e = begin; e < end; ++e) {
        const int64_t id = c.with_ids ? g.edge_ids[e] : e;
        double w = 1;
        if (c.weights == Weights::kPerEdge) w = exact_weight(id);
        if (c.weights == Weights::kPerHead) w = exact_weight(id * c.heads + f / c.dim);
        if (c.weights == Weights::kPerHeadAtPosition) {
          w = exact_weight(g.edge_ids[e] * c.heads + f / c.dim);
        }
        const double message = w * exact_value(g.indices[e] * row + f);
        sum += message;
        if (winner < 0 || message > best) best = message, winner = id;
      }
      const double out = as_double(got.out[static_cast<size_t>(i * row + f)]);
      if (c.reduce == Reduce::kMean) {
        const double mean = end > begin ? sum / static_cast<double>(end - begin) : 0;
        ASSERT_NEAR(out, mean, kEpsilon<T> * (std::abs(mean) + 1e-3)) << "row " << i << ", " << f;
      } else if (c.reduce == Reduce::kSum) {
        ASSERT_EQ(out, rounded<T>(sum)) << "row " << i << ", " << f;
      } else {
        ASSERT_EQ(out, rounded<T>(best)) << "row " << i << ", " << f;
        ASSERT_EQ(got.arg[static_cast<size_t>(i * row + f)], winner) << "row " << i << ", " << f;
      }
    }
  }
}

TYPED_TEST(AggregateCuda, EveryGraphAndReduction) {
  for (const TestGraph& g : graph_zoo()) {
    for (Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax}) {
      expect_formula<TypeParam>(g, {.heads = 3, .dim = 8, .reduce = reduce});
      expect_formula<TypeParam>(
          g, {.heads = 1, .dim = 16, .reduce = reduce, .weights = Weights::kPerEdge});
      expect_formula<TypeParam>(
          g,
          {.heads = 8, .dim = 8, .reduce = reduce, .weights = Weights::kPerHead, .index_bytes = 8});
    }
  }
}

TYPED_TEST(AggregateCuda, EveryRowSize) {
  const TestGraph g = make_graph("row sizes", {9, 0, 250, 1}, 40, 2);
  for (Reduce reduce : {Reduce::kSum, Reduce::kMax}) {
    for (int64_t dim : {8, 24, 32, 64, 128, 136, 512, 1040}) {
      for (int64_t heads : {1, 3, 8}) {
        expect_formula<TypeParam>(
            g, {.heads = heads, .dim = dim, .reduce = reduce, .weights = Weights::kPerHead});
      }
    }
  }
}

TYPED_TEST(AggregateCuda, WeightsAtAPosition) {
  for (const TestGraph& g : graph_zoo()) {
    for (int32_t bytes : {4, 8}) {
      expect_formula<TypeParam>(g, {.heads = 4,
                                    .dim = 32,
                                    .reduce = Reduce::kSum,
                                    .weights = Weights::kPerHeadAtPosition,
                                    .index_bytes = bytes,
                                    .with_ids = false});
    }
  }
}

TYPED_TEST(AggregateCuda, PositionsAreIdsWithoutIds) {
  for (const TestGraph& g : graph_zoo()) {
    for (Reduce reduce : {Reduce::kSum, Reduce::kMax}) {
      expect_formula<TypeParam>(g, {.heads = 2,
                                    .dim = 8,
                                    .reduce = reduce,
                                    .weights = Weights::kPerHead,
                                    .with_ids = false});
    }
  }
}

TYPED_TEST(AggregateCuda, NanWinsTheMaximumAndInfinityStaysInItsRow) {
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  const double kInf = std::numeric_limits<double>::infinity();
  TestGraph g = make_graph("special values", {3, 5, 2, 4}, 14);
  std::iota(g.indices.begin(), g.indices.end(), 0);
  for (int64_t chunk : {2, 100}) {
    const auto nan_at = [&](int64_t i) { return i / 8 == 4 || i / 8 == 6 ? kNan : exact_value(i); };
    const Result<TypeParam> max =
        run<TypeParam>(g, {.heads = 1, .dim = 8, .reduce = Reduce::kMax, .chunk = chunk}, nan_at);
    for (size_t f = 0; f < 32; ++f) {
      EXPECT_EQ(std::isnan(as_double(max.out[f])), f / 8 == 1) << f;
      if (f / 8 == 1) EXPECT_EQ(max.arg[f], g.edge_ids[4]) << f;
    }
    // The last edges of rows 0 and 2: a group that waits for its warp looks at them again.
    const auto inf_at = [&](int64_t i) { return i / 8 == 2 || i / 8 == 9 ? kInf : exact_value(i); };
    const Result<TypeParam> sum =
        run<TypeParam>(g, {.heads = 1, .dim = 8, .reduce = Reduce::kSum, .chunk = chunk}, inf_at);
    for (size_t f = 0; f < 32; ++f) {
      EXPECT_EQ(as_double(sum.out[f]) == kInf, f / 8 % 2 == 0) << f;
      EXPECT_FALSE(std::isnan(as_double(sum.out[f]))) << f;
    }
    const Result<TypeParam> low =
        run<TypeParam>(g, {.heads = 1, .dim = 8, .reduce = Reduce::kMax, .chunk = chunk},
                       [&](int64_t) { return -kInf; });
    for (size_t f = 0; f < 32; ++f) {
      EXPECT_EQ(as_double(low.out[f]), -kInf) << f;
      EXPECT_EQ(low.arg[f], g.edge_ids[static_cast<size_t>(g.indptr[f / 8])]) << f;
    }
  }
}

TYPED_TEST(AggregateCuda, RepeatsBitForBit) {
  const TestGraph g = make_graph("repeat", {5000, 3, 800, 64, 0, 17}, 300);
  const auto irrational = [](int64_t i) { return std::sin(static_cast<double>(i)); };
  const Case c{.heads = 4, .dim = 32, .reduce = Reduce::kSum, .weights = Weights::kPerHead};
  const Result<TypeParam> a = run<TypeParam>(g, c, irrational),
                          b = run<TypeParam>(g, c, irrational);
  EXPECT_EQ(std::memcmp(a.out.data(), b.out.data(), a.out.size() * sizeof(TypeParam)), 0);
}

TEST(AggregateCudaErrors, SayWhatIsWrong) {
  Aggregate<float> p;
  p.graph.num_rows = 1, p.heads = 1, p.dim = 6;
  EXPECT_THROW(aggregate_cuda(p, nullptr), Error);  // dim is no multiple of 4
  p.dim = 8, p.reduce = Reduce::kMin;
  EXPECT_THROW(aggregate_cuda(p, nullptr), Error);
  p.reduce = Reduce::kSum, p.graph.num_rows = int64_t{1} << 31;
  EXPECT_THROW(aggregate_cuda(p, nullptr), Error);
}

}  // namespace
}  // namespace sage
