// Gather and reduce on the CPU against the formula in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/core/check.h"
#include "kernels/segment/aggregate.h"
#include "tests/kernels/core/cpu_graphs.h"

namespace sage::cpu_test {
namespace {

template <class T>
class AggregateCpu : public testing::Test {};
using Types = testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(AggregateCpu, Types);

struct AggregateCase {
  Graph graph;
  Reduce reduce = Reduce::kSum;
  int64_t heads = 1, dim = 1, weight_heads = 1;
  std::vector<double> x, weight;         // weight may be empty
  std::vector<int64_t> weight_position;  // by position in the CSR; empty: the edge id
};

template <class T>
AggregateCase make_case(const Graph& graph, Reduce reduce, int64_t heads, int64_t dim,
                        int64_t weight_heads, bool by_position = false) {
  AggregateCase c{graph, reduce, heads, dim, std::max<int64_t>(weight_heads, 1), {}, {}, {}};
  c.x = random_values<T>(graph.num_cols * heads * dim, 1);
  c.weight = random_values<T>(graph.num_edges() * weight_heads, 2);
  if (by_position) transpose(graph, &c.weight_position);
  return c;
}

template <class V>
struct Aggregated {
  std::vector<V> out;
  std::vector<int64_t> arg;
};

Aggregated<double> aggregate_truth(const AggregateCase& c) {
  const Graph& g = c.graph;
  Aggregated<double> t;
  for (int64_t i = 0; i < g.num_rows(); ++i) {
    for (int64_t h = 0; h < c.heads; ++h) {
      for (int64_t d = 0; d < c.dim; ++d) {
        double sum = 0, best = 0;
        int64_t arg = -1;
        for (int64_t e = g.begin(i); e < g.end(i); ++e) {
          double value = c.x[static_cast<size_t>((g.col(e) * c.heads + h) * c.dim + d)];
          if (!c.weight.empty()) {
            const int64_t at =
                c.weight_position.empty() ? g.id(e) : c.weight_position[static_cast<size_t>(e)];
            value *=
                c.weight[static_cast<size_t>(at * c.weight_heads + (c.weight_heads == 1 ? 0 : h))];
          }
          sum += value;
          if (arg < 0 || value > best) arg = g.id(e), best = value;
        }
        const auto degree = static_cast<double>(g.end(i) - g.begin(i));
        const double mean = degree > 0 ? sum / degree : 0;
        t.out.push_back(c.reduce == Reduce::kSum ? sum : c.reduce == Reduce::kMean ? mean : best);
        t.arg.push_back(arg);
      }
    }
  }
  return t;
}

template <class T>
Aggregated<T> run_aggregate(const AggregateCase& c, const Executor& executor = {},
                            int32_t index_bytes = 4) {
  const std::vector<T> x = convert<T>(c.x), weight = convert<T>(c.weight);
  Aggregated<T> r;
  r.out.resize(static_cast<size_t>(c.graph.num_rows() * c.heads * c.dim),
               static_cast<T>(Acc<T>{77}));
  r.arg.resize(c.reduce == Reduce::kMax ? r.out.size() : 0, 77);
  Aggregate<T> p;
  p.graph = c.graph.view(index_bytes);
  p.heads = c.heads, p.dim = c.dim, p.reduce = c.reduce;
  p.x = x.data(), p.out = r.out.data(), p.arg = r.arg.data();
  p.weight = weight.empty() ? nullptr : weight.data(), p.weight_heads = c.weight_heads;
  if (!c.weight_position.empty()) p.weight_position = {c.weight_position.data(), 8};
  aggregate_cpu(p, executor);
  return r;
}

template <class T>
void expect_aggregate(const AggregateCase& c, const std::string& what) {
  const Aggregated<double> truth = aggregate_truth(c);
  for_each_isa([&](const std::string& isa) {
    const Aggregated<T> actual = run_aggregate<T>(c);
    expect_near(actual.out, truth.out, what + ", " + isa);
    // A product of two bfloat16 or of two floats with ties is exact in double as in Acc<T> only
    // where it fits: without weights, winners must agree.
    if (c.reduce == Reduce::kMax && c.weight.empty()) {
      EXPECT_EQ(actual.arg, truth.arg) << what << ", " << isa;
    }
  });
}

TYPED_TEST(AggregateCpu, Zoo) {
  using T = TypeParam;
  for (const Graph& graph : zoo()) {
    for (Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax}) {
      for (int64_t weight_heads : {0, 1, 3}) {
        expect_aggregate<T>(make_case<T>(graph, reduce, 3, 7, weight_heads), graph.name);
        expect_aggregate<T>(make_case<T>(graph, reduce, 3, 7, weight_heads, true),
                            graph.name + ", weights by position");
      }
    }
  }
}

TYPED_TEST(AggregateCpu, HeadsAndDims) {
  using T = TypeParam;
  const Graph graph = make_graph("small", {0, 1, 9, 40, 3}, 11);
  for (int64_t heads : {1, 3, 4, 8}) {
    for (int64_t dim : {1, 4, 5, 8, 16, 33, 64, 128}) {
      for (Reduce reduce : {Reduce::kSum, Reduce::kMax}) {
        for (int64_t weight_heads : {int64_t{0}, heads}) {
          expect_aggregate<T>(make_case<T>(graph, reduce, heads, dim, weight_heads),
                              std::to_string(heads) + " heads of " + std::to_string(dim));
        }
      }
    }
  }
}

TYPED_TEST(AggregateCpu, SameBitsOnAnyNumberOfThreadsAndIndexWidth) {
  using T = TypeParam;
  for (const Graph& graph : zoo()) {
    for (Reduce reduce : {Reduce::kSum, Reduce::kMean, Reduce::kMax}) {
      const AggregateCase c = make_case<T>(graph, reduce, 2, 9, 2);
      const Aggregated<T> expected = run_aggregate<T>(c);
      for (int32_t threads : {2, 3}) {
        ThreadPool pool(threads);
        const Aggregated<T> actual = run_aggregate<T>(c, pool.executor(), 8);
        EXPECT_EQ(bytes(actual.out), bytes(expected.out)) << graph.name;
        EXPECT_EQ(actual.arg, expected.arg) << graph.name;
      }
    }
  }
}

// The first of equals wins, also where a later part of a hub has an equal one; NaN beats all.
TYPED_TEST(AggregateCpu, Winners) {
  using T = TypeParam;
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const int64_t hub = 2 * RowPlan::kWork + 3;
  Graph graph = make_graph("winners", {3, 2, hub}, 5);
  std::fill(graph.narrow_indices.begin(), graph.narrow_indices.begin() + 5 + hub, 0);
  graph.narrow_indices[1] = graph.narrow_indices[2] = 1;
  graph.narrow_indices[3] = 3, graph.narrow_indices[4] = 2;
  graph.narrow_indices[static_cast<size_t>(5 + RowPlan::kWork)] = 1;
  graph.narrow_indices[static_cast<size_t>(5 + RowPlan::kWork + 1)] = 1;
  AggregateCase c{graph, Reduce::kMax, 1, 1, 1, {1, 2, kNan, -kInf, 0}, {}, {}};
  for_each_isa([&](const std::string& isa) {
    const Aggregated<T> actual = run_aggregate<T>(c);
    expect_near(actual.out, {2, kNan, 2}, isa);
    EXPECT_EQ(actual.arg,
              (std::vector<int64_t>{graph.id(1), graph.id(4), graph.id(5 + RowPlan::kWork)}))
        << isa;
  });
  c.x = {-kInf, -kInf, -kInf, -kInf, -kInf};
  EXPECT_EQ(run_aggregate<T>(c).arg[0], graph.id(0));
}

TEST(AggregateCpuErrors, MinimumIsRefused) {
  EXPECT_THROW(aggregate_cpu(
                   Aggregate<float>{
                       .graph = {}, .schedule = {}, .reduce = Reduce::kMin, .weight_position = {}},
                   {}),
               Error);
}

}  // namespace
}  // namespace sage::cpu_test
