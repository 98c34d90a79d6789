// Sums of per-edge numbers over rows on the CPU against the formula in double precision.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/segment/aggregate.h"
#include "tests/kernels/core/cpu_graphs.h"

namespace sage::cpu_test {
namespace {

template <class T>
class EdgeSumCpu : public testing::Test {};
using Types = testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(EdgeSumCpu, Types);

template <class T>
std::vector<T> run_edge_sum(const Graph& g, int64_t heads, const std::vector<double>& weight,
                            const std::vector<int64_t>& position, const Executor& executor = {},
                            int32_t index_bytes = 4) {
  const std::vector<T> w = convert<T>(weight);
  std::vector<T> out(static_cast<size_t>(g.num_rows() * heads), static_cast<T>(Acc<T>{77}));
  EdgeSum<T> p;
  p.graph = g.view(index_bytes);
  p.heads = heads, p.weight = w.data(), p.out = out.data();
  if (!position.empty()) p.weight_position = {position.data(), 8};
  edge_sum_cpu(p, executor);
  return out;
}

TYPED_TEST(EdgeSumCpu, MatchesTheFormula) {
  using T = TypeParam;
  for (const Graph& g : zoo()) {
    for (int64_t heads : {1, 3, 8}) {
      for (bool by_position : {false, true}) {
        std::vector<int64_t> position;
        if (by_position) transpose(g, &position);
        const auto weight = random_values<T>(g.num_edges() * heads, 1);
        std::vector<double> expected;
        for (int64_t i = 0; i < g.num_rows(); ++i) {
          for (int64_t h = 0; h < heads; ++h) {
            double sum = 0;
            for (int64_t e = g.begin(i); e < g.end(i); ++e) {
              const int64_t at = by_position ? position[static_cast<size_t>(e)] : g.id(e);
              sum += weight[static_cast<size_t>(at * heads + h)];
            }
            expected.push_back(sum);
          }
        }
        expect_near(run_edge_sum<T>(g, heads, weight, position), expected, g.name);
        const auto serial = run_edge_sum<T>(g, heads, weight, position);
        for (int32_t threads : {2, 3}) {
          ThreadPool pool(threads);
          const auto actual = run_edge_sum<T>(g, heads, weight, position, pool.executor(), 8);
          EXPECT_EQ(bytes(actual), bytes(serial)) << g.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sage::cpu_test
