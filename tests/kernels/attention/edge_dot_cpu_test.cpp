// edge_dot and attention_delta on the CPU against the formula in double precision.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/kernels/core/cpu_graphs.h"

namespace sage::cpu_test {
namespace {

template <class T>
class EdgeDotCpu : public testing::Test {};
using Types = testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(EdgeDotCpu, Types);

template <class T>
std::vector<T> run_edge_dot(const Graph& g, int64_t heads, int64_t dim, const std::vector<T>& x,
                            const std::vector<T>& y, const Executor& executor = {},
                            int32_t index_bytes = 4) {
  std::vector<T> out(static_cast<size_t>((g.num_edges() + Graph::kTail) * heads),
                     static_cast<T>(Acc<T>{77}));
  EdgeDot<T> p;
  p.graph = g.view(index_bytes);
  p.heads = heads, p.dim = dim;
  p.x = x.data(), p.y = y.data(), p.out = out.data();
  edge_dot_cpu(p, executor);
  return out;
}

TYPED_TEST(EdgeDotCpu, MatchesTheFormula) {
  using T = TypeParam;
  for (const Graph& g : zoo()) {
    for (int64_t heads : {1, 3}) {
      for (int64_t dim : {1, 7, 40}) {
        const auto x = random_values<T>(g.num_rows() * heads * dim, 1);
        const auto y = random_values<T>(g.num_cols * heads * dim, 2);
        std::vector<double> expected;
        for (int64_t i = 0; i < g.num_rows(); ++i) {
          for (int64_t e = g.begin(i); e < g.end(i); ++e) {
            for (int64_t h = 0; h < heads; ++h) {
              double sum = 0;
              for (int64_t c = 0; c < dim; ++c) {
                sum += x[static_cast<size_t>((i * heads + h) * dim + c)] *
                       y[static_cast<size_t>((g.col(e) * heads + h) * dim + c)];
              }
              expected.push_back(sum);
            }
          }
        }
        expected.resize(expected.size() + static_cast<size_t>(Graph::kTail * heads), 77);
        for_each_isa([&](const std::string& isa) {
          expect_near(run_edge_dot(g, heads, dim, convert<T>(x), convert<T>(y)), expected,
                      g.name + ", " + isa);
        });
      }
    }
  }
}

TYPED_TEST(EdgeDotCpu, SameBitsOnAnyNumberOfThreadsAndIndexWidth) {
  using T = TypeParam;
  for (const Graph& g : zoo()) {
    const auto x = convert<T>(random_values<T>(g.num_rows() * 20, 1));
    const auto y = convert<T>(random_values<T>(g.num_cols * 20, 2));
    const auto expected = run_edge_dot(g, 2, 10, x, y);
    for (int32_t threads : {2, 3}) {
      ThreadPool pool(threads);
      EXPECT_EQ(bytes(run_edge_dot(g, 2, 10, x, y, pool.executor(), 8)), bytes(expected));
    }
  }
}

TYPED_TEST(EdgeDotCpu, Delta) {
  using T = TypeParam;
  for (int64_t count : {0, 1, 5000}) {
    for (int64_t dim : {1, 5, 16, 33}) {
      const auto grad = random_values<T>(count * dim, 1), out = random_values<T>(count * dim, 2);
      const auto lse = random_values<Acc<T>>(count, 3);
      std::vector<double> expected;
      for (int64_t i = 0; i < count; ++i) {
        double sum = 0;
        for (int64_t c = i * dim; c < (i + 1) * dim; ++c) {
          sum += grad[static_cast<size_t>(c)] * out[static_cast<size_t>(c)];
        }
        expected.push_back(lse[static_cast<size_t>(i)]);
        expected.push_back(sum);
      }
      ThreadPool pool(3);
      for_each_isa([&](const std::string& isa) {
        std::vector<Acc<T>> actual(static_cast<size_t>(2 * count));
        attention_delta_cpu(count, dim, convert<T>(grad).data(), convert<T>(out).data(),
                            convert<Acc<T>>(lse).data(), actual.data(), pool.executor());
        expect_near(actual, expected, isa, kTolerance<Acc<T>>);
      });
    }
  }
}

}  // namespace
}  // namespace sage::cpu_test
