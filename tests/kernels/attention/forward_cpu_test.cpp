// The forward of attention on the CPU against the formula in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/kernels/attention/cpu_oracle.h"

namespace sage::cpu_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class T>
struct ForwardResult {
  std::vector<T> out;
  std::vector<Acc<T>> lse;
};

// `shift` moves every operand by that many elements, away from vector boundaries.
template <class Score, class T>
ForwardResult<T> run_forward(const AttentionCase& c, const Executor& executor = {},
                             int32_t index_bytes = 4, size_t shift = 0) {
  const auto shifted = [&](const std::vector<double>& x) {
    std::vector<T> y = convert<T>(x);
    y.insert(y.begin(), shift, T{});
    return y;
  };
  const std::vector<T> q = shifted(c.q), k = shifted(c.k), v = shifted(c.v);
  const TermArrays<T> terms(c);
  std::vector<T> out(c.grad.size() + shift, static_cast<T>(Acc<T>{77}));
  std::vector<Acc<T>> lse(static_cast<size_t>(c.graph.num_rows() * c.heads) + shift, 77);
  AttentionForward<T> p;
  p.graph = c.graph.view(index_bytes);
  p.heads = c.heads, p.key_dim = c.key_dim, p.value_dim = c.value_dim;
  p.q = q.data() + shift, p.k = k.data() + shift, p.v = v.data() + shift;
  p.edge = terms.view();
  p.out = out.data() + shift, p.lse = lse.data() + shift;
  attention_forward_cpu(p, Score::from_param(c.param), executor);
  out.erase(out.begin(), out.begin() + static_cast<int64_t>(shift));
  lse.erase(lse.begin(), lse.begin() + static_cast<int64_t>(shift));
  return {out, lse};
}

template <class Score, class T>
void expect_forward(const AttentionCase& c, const std::string& what,
                    double tolerance = kTolerance<T>) {
  const AttentionTruth truth = attention_truth<Score>(c);
  for_each_isa([&](const std::string& isa) {
    const ForwardResult<T> actual = run_forward<Score, T>(c);
    expect_near(actual.out, truth.out, what + ", out, " + isa, tolerance);
    expect_near(actual.lse, truth.lse, what + ", lse, " + isa, kTolerance<Acc<T>>);
  });
}

template <class ScoreAndType>
class ForwardCpu : public testing::Test {};
template <class S, class T>
struct Of {
  using Score = S;
  using Element = T;
};
using Cases = testing::Types<Of<DotScore, float>, Of<DotScore, double>, Of<DotScore, bfloat16>,
                             Of<GatScore, float>, Of<GatScore, double>, Of<GatScore, bfloat16>>;
TYPED_TEST_SUITE(ForwardCpu, Cases);

TYPED_TEST(ForwardCpu, Zoo) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  for (const Graph& graph : zoo()) {
    expect_forward<Score, T>(make_case<Score, T>(graph, 2, 12), graph.name);
  }
}

TYPED_TEST(ForwardCpu, HeadsAndDims) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  const Graph graph = make_graph("small", {0, 1, 9, 40, 3}, 11);
  for (int64_t heads : {1, 3, 4, 8}) {
    for (int64_t dim : {1, 4, 5, 8, 16, 33, 64, 128}) {
      expect_forward<Score, T>(make_case<Score, T>(graph, heads, dim),
                               std::to_string(heads) + " heads of " + std::to_string(dim));
    }
  }
}

TYPED_TEST(ForwardCpu, EdgeTerms) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  for (const Graph& graph : zoo()) {
    for (Terms terms : {kBias, kAllTerms, kHeadWeights}) {
      expect_forward<Score, T>(make_case<Score, T>(graph, 5, 4, terms), graph.name);
    }
  }
}

TYPED_TEST(ForwardCpu, SameBitsOnAnyNumberOfThreads) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  for (const Graph& graph : zoo()) {
    const AttentionCase c = make_case<Score, T>(graph, 3, 8, kAllTerms);
    const ForwardResult<T> expected = run_forward<Score, T>(c);
    for (int32_t threads : {2, 3}) {
      ThreadPool pool(threads);
      const ForwardResult<T> actual = run_forward<Score, T>(c, pool.executor());
      EXPECT_EQ(bytes(actual.out), bytes(expected.out)) << graph.name;
      EXPECT_EQ(bytes(actual.lse), bytes(expected.lse)) << graph.name;
    }
  }
}

TYPED_TEST(ForwardCpu, WideIndicesAndUnalignedOperands) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  const Graph graph = make_graph("small", {0, 1, 9, 70, 3}, 11);
  const AttentionCase c = make_case<Score, T>(graph, 3, 17, kAllTerms);
  const ForwardResult<T> expected = run_forward<Score, T>(c);
  EXPECT_EQ(bytes(run_forward<Score, T>(c, {}, 8).out), bytes(expected.out));
  EXPECT_EQ(bytes(run_forward<Score, T>(c, {}, 4, 1).out), bytes(expected.out));
}

TYPED_TEST(ForwardCpu, NoEdgeIdsMeansCsrOrder) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  Graph graph = make_graph("small", {4, 0, 50}, 7);
  for (size_t e = 0; e < graph.edge_ids.size(); ++e) {
    graph.edge_ids[e] = graph.narrow_edge_ids[e] = static_cast<int32_t>(e);
  }
  const AttentionCase c = make_case<Score, T>(graph, 2, 4, kAllTerms);
  const ForwardResult<T> expected = run_forward<Score, T>(c);
  const TermArrays<T> terms(c);
  const std::vector<T> q = convert<T>(c.q), k = convert<T>(c.k), v = convert<T>(c.v);
  std::vector<T> out(c.grad.size());
  std::vector<Acc<T>> lse(expected.lse.size());
  AttentionForward<T> p;
  p.graph = graph.view();
  p.graph.edge_ids = {};
  p.heads = c.heads, p.key_dim = c.key_dim, p.value_dim = c.value_dim;
  p.q = q.data(), p.k = k.data(), p.v = v.data(), p.edge = terms.view();
  p.out = out.data(), p.lse = lse.data();
  attention_forward_cpu(p, Score::from_param(c.param), {});
  EXPECT_EQ(bytes(out), bytes(expected.out));
}

// Rows of 40 edges (more than a block) and of a hub (several parts), with logits that overflow,
// vanish or are not numbers.
TYPED_TEST(ForwardCpu, SpecialLogits) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  const int64_t hub = 2 * RowPlan::kWork + 7;
  const Graph graph = make_graph("special", {40, 40, 40, 40, hub, hub, hub}, 9);
  AttentionCase c = make_case<Score, T>(graph, 1, 4, kBias);
  const auto set = [&](int64_t row, int64_t first, int64_t last, double bias) {
    for (int64_t e = graph.begin(row) + first; e < graph.begin(row) + last; ++e) {
      c.bias[static_cast<size_t>(graph.id(e))] = bias;
    }
  };
  set(0, 0, 40, -kInf);                    // nothing: 0, lse -inf
  set(1, 0, 36, -kInf);                    // a whole block of -inf before the first finite logit
  set(2, 33, 34, kNan);                    // NaN behind the first block
  set(3, 0, 40, -256);                     // far below 0
  set(4, 0, hub, -kInf);                   // a hub of nothing
  set(5, 0, RowPlan::kWork, -kInf);        // the first part is nothing
  set(6, 2 * RowPlan::kWork, hub, -kInf);  // the last part is nothing
  // A logit near 256 has an error of 2e-5 in float.
  expect_forward<Score, T>(c, "special", std::max(kTolerance<T>, 1e-4));
  const ForwardResult<T> actual = run_forward<Score, T>(c);
  EXPECT_EQ(actual.lse[0], -std::numeric_limits<Acc<T>>::infinity());
  EXPECT_EQ(static_cast<Acc<T>>(actual.out[0]), 0);
  EXPECT_TRUE(std::isnan(actual.lse[2]));
  EXPECT_EQ(actual.lse[4], -std::numeric_limits<Acc<T>>::infinity());
}

TYPED_TEST(ForwardCpu, ValuesThatAreNotFinitePropagate) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  Graph graph = make_graph("values", {3, 3}, 4);
  graph.indices = {0, 1, 2, 3, 3, 3};
  graph.narrow_indices.assign(graph.indices.begin(), graph.indices.end());
  AttentionCase c = make_case<Score, T>(graph, 1, 2);
  c.v[c.at(1, 0, 2, 0)] = kNan;
  c.v[c.at(3, 0, 2, 1)] = kInf;
  const ForwardResult<T> actual = run_forward<Score, T>(c);
  const std::vector<double> out = widen(actual.out);
  EXPECT_TRUE(std::isnan(out[0]));
  EXPECT_TRUE(std::isfinite(out[1]) && std::isfinite(out[2]));
  EXPECT_EQ(out[3], kInf);
}

}  // namespace
}  // namespace sage::cpu_test
