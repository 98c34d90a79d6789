// Tests of kernels/attention/source_pass.cuh against gradients in double precision.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/attention/attention.h"
#include "tests/kernels/attention/cuda_problem.cuh"

namespace sage::attention_test {
namespace {

template <class ScoreT, class ElementT>
struct Config {
  using Score = ScoreT;
  using T = ElementT;
};

template <class T>
struct SourceResult {
  std::vector<T> dk, dv, dsum, dbias, dweight;
};

// lse and delta are the oracle's, so that the pass is tested by itself. dsum comes in the order of
// the problem's edges.
template <class Score, class T>
SourceResult<T> run_source_pass(const Problem& p, const Expected& want) {
  const Shape& s = p.shape;
  const DeviceGraph graph(p.edges, p.num_dst, p.num_src, true, s.chunk, s.wide);
  const DeviceArray<T> q(from_double<T>(p.q)), k(from_double<T>(p.k)), v(from_double<T>(p.v));
  const DeviceArray<T> grad(from_double<T>(p.grad));
  const DeviceArray<T> bias(from_double<T>(p.bias)), weight(from_double<T>(p.weight));
  const DeviceArray<int64_t> seed(std::vector<int64_t>{p.seed});
  const DeviceArray<Acc<T>> lse_delta(from_double<Acc<T>>(want.lse_delta));
  const auto count = static_cast<int64_t>(p.edges.size());
  const DeviceArray<T> dk(p.num_src * s.heads * s.key_dim), dv(p.num_src * s.heads * s.value_dim);
  const DeviceArray<T> dsum(graph.view().num_edges * s.heads);
  const DeviceArray<T> dbias(s.terms ? count * s.heads : 0), dweight(s.terms ? count * s.heads : 0);
  const DeviceArray<Acc<T>> partial(
      attention_source_partial_size(graph.schedule(), s.heads, s.key_dim, s.value_dim));
  AttentionSourcePass<T> x;
  x.graph = graph.view();
  x.schedule = graph.schedule();
  x.heads = s.heads, x.key_dim = s.key_dim, x.value_dim = s.value_dim;
  x.q = q.get(), x.k = k.get(), x.v = v.get(), x.grad = grad.get();
  x.lse_delta = lse_delta.get();
  x.edge = {bias.get(), weight.get(), s.weight_heads, p.dropout, seed.get()};
  x.dk = dk.get(), x.dv = dv.get(), x.dsum = dsum.get();
  x.dbias = dbias.get(), x.dweight = dweight.get(), x.partial = partial.get();
  attention_source_pass_cuda<Score, T>(x, Score::from_param(p.param), nullptr);

  SourceResult<T> result{dk.host(), dv.host(), {}, dbias.host(), dweight.host()};
  const std::vector<T> by_position = dsum.host();
  result.dsum.resize(static_cast<size_t>(count * s.heads));
  for (int64_t at = 0; at < graph.view().num_edges; ++at) {
    for (int64_t h = 0; h < s.heads; ++h) {
      const T value = by_position[static_cast<size_t>(at * s.heads + h)];
      if (at < count) {
        const int64_t e = graph.order()[static_cast<size_t>(at)];
        result.dsum[static_cast<size_t>(e * s.heads + h)] = value;
      } else {  // belongs to no row
        EXPECT_TRUE(std::isnan(to_double(value)));
      }
    }
  }
  return result;
}

template <class Score, class T>
void check_source_pass(const Problem& p) {
  SCOPED_TRACE("heads " + std::to_string(p.shape.heads) + " key_dim " +
               std::to_string(p.shape.key_dim) + " value_dim " + std::to_string(p.shape.value_dim) +
               (p.shape.terms ? " with terms" : ""));
  const Expected want = oracle<Score>(p, true);
  const auto got = run_source_pass<Score, T>(p, want);
  expect_close(to_double(got.dk), want.dk, kTolerance<T>, "dk");
  expect_close(to_double(got.dv), want.dv, kTolerance<T>, "dv");
  expect_close(to_double(got.dsum), want.dsum, kTolerance<T>, "dsum");
  if (!p.shape.terms) return;
  expect_close(to_double(got.dbias), want.dbias, kTolerance<T>, "dbias");
  expect_close(to_double(got.dweight), want.dweight, kTolerance<T>, "dweight");
}

template <class C>
class AttentionSourcePassCuda : public CudaTest {};
using Configs =
    ::testing::Types<Config<DotScore, float>, Config<DotScore, double>, Config<DotScore, bfloat16>,
                     Config<GatScore, float>, Config<GatScore, double>, Config<GatScore, bfloat16>>;
TYPED_TEST_SUITE(AttentionSourcePassCuda, Configs);

TYPED_TEST(AttentionSourcePassCuda, EveryLayout) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  uint64_t seed = 1;
  for (int64_t dim : {8, 16, 32, 40, 64, 128, 256, 512}) {
    for (int64_t heads : {1, 3, 4, 8}) {
      for (bool terms : {false, true}) {
        const Shape shape{.heads = heads,
                          .key_dim = dim,
                          .value_dim = dim,
                          .terms = terms,
                          .weight_heads = seed % 3 == 0 ? heads : 1,
                          .wide = seed % 2 == 0};
        check_source_pass<Score, T>(random_problem<Score, T>(shape, seed++));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(AttentionSourcePassCuda, MoreHeadsThanAWarp) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  for (int64_t heads : {12, 17, 33, 64}) {
    for (int64_t dim : {8, 24}) {
      const Shape shape{.heads = heads, .key_dim = dim, .value_dim = dim, .terms = heads == 17};
      check_source_pass<Score, T>(random_problem<Score, T>(shape, 7));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(AttentionSourcePassCuda, KeyAndValueDimDiffer) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  for (auto [key_dim, value_dim] : {std::pair{16, 64}, {64, 16}, {40, 8}, {8, 512}, {320, 24}}) {
    const Shape shape{.heads = 3, .key_dim = key_dim, .value_dim = value_dim};
    check_source_pass<Score, T>(random_problem<Score, T>(shape, 11));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(AttentionSourcePassCuda, UncutRows) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  check_source_pass<Score, T>(
      random_problem<Score, T>({.heads = 4, .key_dim = 32, .value_dim = 32, .chunk = 1 << 20}, 3));
}

TYPED_TEST(AttentionSourcePassCuda, RowsWithoutEdges) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  Problem p = random_problem<Score, T>({.heads = 2}, 5);
  p.edges.clear();
  check_source_pass<Score, T>(p);
  p.num_src = 0;
  p.k.clear();
  p.v.clear();
  check_source_pass<Score, T>(p);
}

TYPED_TEST(AttentionSourcePassCuda, MinusInfinityIsAbsence) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  Problem p =
      random_problem<Score, T>({.heads = 4, .key_dim = 16, .value_dim = 16, .terms = true}, 17);
  for (const Edge& e : p.edges) {
    for (int64_t h = 0; h < 4; ++h) {
      const bool off = e.id % 3 == 0 || e.dst == 1 || (e.dst == 4 && h != 2);
      if (off) p.bias[static_cast<size_t>(e.id * 4 + h)] = -kInf;
    }
  }
  check_source_pass<Score, T>(p);
}

TYPED_TEST(AttentionSourcePassCuda, InfiniteGradientInAShortChunk) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  for (int64_t degree = 1; degree <= 9; ++degree) {
    Problem p = random_problem<Score, T>({.heads = 2, .key_dim = 32, .value_dim = 32}, 23, 10, 1);
    p.edges.clear();
    for (int64_t e = 0; e < degree; ++e) p.edges.push_back({e, 0, e});
    const Expected want = oracle<Score>(p, true);
    p.grad[static_cast<size_t>((degree - 1) * 64 + 7)] = kInf;
    const auto got = run_source_pass<Score, T>(p, want);
    // dv of the source is the sum of the gradients: infinite there and unharmed elsewhere.
    const std::vector<double> dv = to_double(got.dv);
    EXPECT_EQ(dv[7], kInf) << degree;
    EXPECT_TRUE(std::isfinite(dv[6])) << degree;
    EXPECT_TRUE(std::isfinite(dv[39])) << degree;
  }
}

TYPED_TEST(AttentionSourcePassCuda, ManyRows) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  check_source_pass<Score, T>(random_problem<Score, T>({.heads = 1}, 29, 60000, 100000));
}

TYPED_TEST(AttentionSourcePassCuda, RepeatsBitForBit) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  const Problem p = random_problem<Score, T>(
      {.heads = 4, .key_dim = 40, .value_dim = 40, .terms = true, .chunk = 8}, 31);
  const Expected want = oracle<Score>(p, true);
  const auto a = run_source_pass<Score, T>(p, want), b = run_source_pass<Score, T>(p, want);
  const auto same = [](const std::vector<T>& x, const std::vector<T>& y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
  };
  EXPECT_TRUE(same(a.dk, b.dk));
  EXPECT_TRUE(same(a.dv, b.dv));
  EXPECT_TRUE(same(a.dsum, b.dsum));
  EXPECT_TRUE(same(a.dbias, b.dbias));
  EXPECT_TRUE(same(a.dweight, b.dweight));
}

}  // namespace
}  // namespace sage::attention_test
