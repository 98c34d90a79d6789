// The source pass of attention's backward on the CPU against the formula in double precision.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/kernels/attention/cpu_oracle.h"

namespace sage::cpu_test {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
struct SourceResult {
  std::vector<T> dk, dv, dsum, dbias, dweight;  // dsum by edge id
};

template <class Score, class T>
SourceResult<T> run_source(const AttentionCase& c, const AttentionTruth& truth,
                           const Executor& executor = {}, int32_t index_bytes = 4) {
  const Graph t = transpose(c.graph);
  const std::vector<T> q = convert<T>(c.q), k = convert<T>(c.k), v = convert<T>(c.v);
  const std::vector<T> grad = convert<T>(c.grad);
  std::vector<Acc<T>> lse_delta(truth.lse_delta.size());
  for (size_t i = 0; i < lse_delta.size(); ++i) {
    lse_delta[i] = static_cast<Acc<T>>(truth.lse_delta[i]);
  }
  const TermArrays<T> terms(c);
  const T unset = static_cast<T>(Acc<T>{77});
  SourceResult<T> r{std::vector<T>(k.size(), unset), std::vector<T>(v.size(), unset), {}, {}, {}};
  r.dbias = r.dweight = r.dsum = std::vector<T>(truth.dsum.size(), unset);
  std::vector<T> dsum(truth.dsum.size() + static_cast<size_t>(Graph::kTail * c.heads), unset);
  AttentionSourcePass<T> p;
  p.graph = t.view(index_bytes);
  p.heads = c.heads, p.key_dim = c.key_dim, p.value_dim = c.value_dim;
  p.q = q.data(), p.k = k.data(), p.v = v.data(), p.grad = grad.data();
  p.lse_delta = lse_delta.data(), p.edge = terms.view();
  p.dk = r.dk.data(), p.dv = r.dv.data(), p.dsum = dsum.data();
  p.dbias = c.bias.empty() ? nullptr : r.dbias.data();
  p.dweight = c.weight.empty() ? nullptr : r.dweight.data();
  attention_source_pass_cpu(p, Score::from_param(c.param), executor);
  for (int64_t e = 0; e < t.num_edges(); ++e) {
    for (int64_t h = 0; h < c.heads; ++h) {
      r.dsum[c.at(t.id(e), h, 1, 0)] = dsum[c.at(e, h, 1, 0)];
    }
  }
  for (size_t i = truth.dsum.size(); i < dsum.size(); ++i) {
    EXPECT_EQ(static_cast<Acc<T>>(dsum[i]), 77) << "an entry behind indptr was written";
  }
  return r;
}

template <class Score, class T>
void expect_source(const AttentionCase& c, const std::string& what) {
  const AttentionTruth truth = attention_truth<Score>(c);
  for_each_isa([&](const std::string& isa) {
    const SourceResult<T> actual = run_source<Score, T>(c, truth);
    expect_near(actual.dk, truth.dk, what + ", dk, " + isa);
    expect_near(actual.dv, truth.dv, what + ", dv, " + isa);
    expect_near(actual.dsum, truth.dsum, what + ", dsum, " + isa);
    if (!c.bias.empty()) expect_near(actual.dbias, truth.dbias, what + ", dbias, " + isa);
    if (!c.weight.empty()) expect_near(actual.dweight, truth.dweight, what + ", dweight, " + isa);
  });
}

template <class ScoreAndType>
class SourceCpu : public testing::Test {};
template <class S, class T>
struct Of {
  using Score = S;
  using Element = T;
};
using Cases = testing::Types<Of<DotScore, float>, Of<DotScore, double>, Of<DotScore, bfloat16>,
                             Of<GatScore, float>, Of<GatScore, double>, Of<GatScore, bfloat16>>;
TYPED_TEST_SUITE(SourceCpu, Cases);

TYPED_TEST(SourceCpu, Zoo) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  for (const Graph& graph : zoo()) {
    expect_source<Score, T>(make_case<Score, T>(graph, 2, 12), graph.name);
  }
}

TYPED_TEST(SourceCpu, HeadsAndDims) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  const Graph graph = make_graph("small", {0, 1, 9, 40, 3}, 6);
  for (int64_t heads : {1, 3, 4, 8}) {
    for (int64_t dim : {1, 4, 5, 8, 16, 33, 64, 128}) {
      expect_source<Score, T>(make_case<Score, T>(graph, heads, dim),
                              std::to_string(heads) + " heads of " + std::to_string(dim));
    }
  }
}

TYPED_TEST(SourceCpu, EdgeTerms) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  for (const Graph& graph : zoo()) {
    for (Terms terms : {kBias, kAllTerms, kHeadWeights}) {
      expect_source<Score, T>(make_case<Score, T>(graph, 5, 4, terms), graph.name);
    }
  }
}

TYPED_TEST(SourceCpu, SameBitsOnAnyNumberOfThreadsAndIndexWidth) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  for (const Graph& graph : zoo()) {
    const AttentionCase c = make_case<Score, T>(graph, 3, 8, kAllTerms);
    const AttentionTruth truth = attention_truth<Score>(c);
    const SourceResult<T> expected = run_source<Score, T>(c, truth);
    for (int32_t threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      const SourceResult<T> actual = run_source<Score, T>(c, truth, pool.executor(), 8);
      EXPECT_EQ(bytes(actual.dk), bytes(expected.dk)) << graph.name;
      EXPECT_EQ(bytes(actual.dv), bytes(expected.dv)) << graph.name;
      EXPECT_EQ(bytes(actual.dsum), bytes(expected.dsum)) << graph.name;
      EXPECT_EQ(bytes(actual.dbias), bytes(expected.dbias)) << graph.name;
      EXPECT_EQ(bytes(actual.dweight), bytes(expected.dweight)) << graph.name;
    }
  }
}

// A destination whose logits are all -inf gives no gradient; one that is partly -inf gives finite
// ones.
TYPED_TEST(SourceCpu, InfiniteLogits) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::Element;
  const Graph graph = make_graph("special", {40, 40, 5}, 3);
  AttentionCase c = make_case<Score, T>(graph, 1, 4, kBias);
  for (int64_t e = 0; e < graph.end(1) - 5; ++e) {
    c.bias[static_cast<size_t>(graph.id(e))] = -kInf;
  }
  expect_source<Score, T>(c, "special");
}

}  // namespace
}  // namespace sage::cpu_test
