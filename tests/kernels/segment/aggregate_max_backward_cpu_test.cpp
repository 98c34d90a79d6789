// Backward of gather-and-maximum on the CPU against the formula in double precision.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/segment/aggregate.h"
#include "tests/kernels/core/cpu_graphs.h"

namespace sage::cpu_test {
namespace {

template <class T>
class AggregateMaxBackwardCpu : public testing::Test {};
using Types = testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(AggregateMaxBackwardCpu, Types);

// arg: for each output element, the id of one of its row's edges, or -1.
struct BackwardCase {
  Graph graph;
  int64_t heads = 1, dim = 1, weight_heads = 0;
  std::vector<double> x, grad, weight;
  std::vector<int64_t> arg;

  size_t at(int64_t node, int64_t h, int64_t c) const {
    return static_cast<size_t>((node * heads + h) * dim + c);
  }
};

template <class T>
BackwardCase make_case(const Graph& g, int64_t heads, int64_t dim, int64_t weight_heads) {
  BackwardCase c{g, heads, dim, weight_heads, {}, {}, {}, {}};
  c.x = random_values<T>(g.num_cols * heads * dim, 1);
  c.grad = random_values<T>(g.num_rows() * heads * dim, 2);
  c.weight = random_values<T>(g.num_edges() * weight_heads, 3);
  for (int64_t i = 0; i < g.num_rows(); ++i) {
    for (int64_t k = 0; k < heads * dim; ++k) {
      const int64_t degree = g.end(i) - g.begin(i);
      c.arg.push_back(degree == 0 ? -1 : g.id(g.begin(i) + (k * 7 + i) % degree));
    }
  }
  return c;
}

template <class V>
struct Gradients {
  std::vector<V> dx, dweight;
};

Gradients<double> backward_truth(const BackwardCase& c) {
  Gradients<double> t;
  t.dx.resize(c.x.size());
  t.dweight.resize(static_cast<size_t>(c.graph.num_edges() * c.heads));
  for (int64_t i = 0; i < c.graph.num_rows(); ++i) {
    for (int64_t e = c.graph.begin(i); e < c.graph.end(i); ++e) {
      const int64_t id = c.graph.id(e), j = c.graph.col(e);
      for (int64_t h = 0; h < c.heads; ++h) {
        const int64_t weight_at = id * c.weight_heads + (c.weight_heads > 1 ? h : 0);
        const double weight = c.weight.empty() ? 1 : c.weight[static_cast<size_t>(weight_at)];
        for (int64_t d = 0; d < c.dim; ++d) {
          if (c.arg[c.at(i, h, d)] != id) continue;
          t.dx[c.at(j, h, d)] += c.grad[c.at(i, h, d)] * weight;
          t.dweight[static_cast<size_t>(id * c.heads + h)] +=
              c.grad[c.at(i, h, d)] * c.x[c.at(j, h, d)];
        }
      }
    }
  }
  return t;
}

template <class T>
Gradients<T> run_backward(const BackwardCase& c, const Executor& executor = {},
                          int32_t index_bytes = 4) {
  const Graph t = transpose(c.graph);
  const auto x = convert<T>(c.x), grad = convert<T>(c.grad), weight = convert<T>(c.weight);
  const T unset = static_cast<T>(Acc<T>{77});
  Gradients<T> r{std::vector<T>(x.size(), unset),
                 std::vector<T>(static_cast<size_t>(t.num_edges() * c.heads), unset)};
  AggregateMaxBackward<T> p;
  p.graph = t.view(index_bytes);
  p.heads = c.heads, p.dim = c.dim;
  p.x = x.data(), p.grad = grad.data(), p.arg = c.arg.data();
  p.weight = weight.empty() ? nullptr : weight.data();
  p.weight_heads = c.weight_heads;
  p.dx = r.dx.data(), p.dweight = r.dweight.data();
  aggregate_max_backward_cpu(p, executor);
  return r;
}

TYPED_TEST(AggregateMaxBackwardCpu, MatchesTheFormula) {
  using T = TypeParam;
  for (const Graph& graph : zoo()) {
    for (int64_t weight_heads : {0, 1, 3}) {
      for (int64_t dim : {1, 7, 40}) {
        const BackwardCase c = make_case<T>(graph, 3, dim, weight_heads);
        const Gradients<double> truth = backward_truth(c);
        for_each_isa([&](const std::string& isa) {
          const Gradients<T> actual = run_backward<T>(c);
          expect_near(actual.dx, truth.dx, graph.name + ", dx, " + isa);
          expect_near(actual.dweight, truth.dweight, graph.name + ", dweight, " + isa);
        });
      }
    }
  }
}

TYPED_TEST(AggregateMaxBackwardCpu, SameBitsOnAnyNumberOfThreadsAndIndexWidth) {
  using T = TypeParam;
  for (const Graph& graph : zoo()) {
    const BackwardCase c = make_case<T>(graph, 2, 9, 2);
    const Gradients<T> expected = run_backward<T>(c);
    for (int32_t threads : {2, 3}) {
      ThreadPool pool(threads);
      const Gradients<T> actual = run_backward<T>(c, pool.executor(), 8);
      EXPECT_EQ(bytes(actual.dx), bytes(expected.dx)) << graph.name;
      EXPECT_EQ(bytes(actual.dweight), bytes(expected.dweight)) << graph.name;
    }
  }
}

}  // namespace
}  // namespace sage::cpu_test
