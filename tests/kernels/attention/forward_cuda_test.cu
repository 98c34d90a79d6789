// Tests of kernels/attention/forward.cuh against attention in double precision.
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
struct ForwardResult {
  std::vector<T> out;
  std::vector<Acc<T>> lse;
};

template <class Score, class T>
ForwardResult<T> run_forward(const Problem& p) {
  const Shape& s = p.shape;
  const DeviceGraph graph(p.edges, p.num_dst, p.num_src, false, s.chunk, s.wide);
  const DeviceArray<T> q(from_double<T>(p.q)), k(from_double<T>(p.k)), v(from_double<T>(p.v));
  const DeviceArray<T> bias(from_double<T>(p.bias)), weight(from_double<T>(p.weight));
  const DeviceArray<int64_t> seed(std::vector<int64_t>{p.seed});
  const DeviceArray<T> out(p.num_dst * s.heads * s.value_dim);
  const DeviceArray<Acc<T>> lse(p.num_dst * s.heads);
  const DeviceArray<Acc<T>> partial(
      attention_forward_partial_size(graph.schedule(), s.heads, s.value_dim));
  AttentionForward<T> x;
  x.graph = graph.view();
  x.schedule = graph.schedule();
  x.heads = s.heads, x.key_dim = s.key_dim, x.value_dim = s.value_dim;
  x.q = q.get(), x.k = k.get(), x.v = v.get();
  x.edge = {bias.get(), weight.get(), s.weight_heads, p.dropout, seed.get()};
  x.out = out.get(), x.lse = lse.get(), x.partial = partial.get();
  attention_forward_cuda<Score, T>(x, Score::from_param(p.param), nullptr);
  return {out.host(), lse.host()};
}

template <class Score, class T>
void check_forward(const Problem& p) {
  SCOPED_TRACE("heads " + std::to_string(p.shape.heads) + " key_dim " +
               std::to_string(p.shape.key_dim) + " value_dim " + std::to_string(p.shape.value_dim) +
               (p.shape.terms ? " with terms" : ""));
  const auto got = run_forward<Score, T>(p);
  const Expected want = oracle<Score>(p, false);
  expect_close(to_double(got.out), want.out, kTolerance<T>, "out");
  // The sum of squares of lse is dominated by rounding of the logits only.
  std::vector<double> lse(got.lse.begin(), got.lse.end());
  expect_close(lse, want.lse, sizeof(T) == 8 ? 1e-12 : 2e-5, "lse");
}

template <class C>
class AttentionForwardCuda : public CudaTest {};
using Configs =
    ::testing::Types<Config<DotScore, float>, Config<DotScore, double>, Config<DotScore, bfloat16>,
                     Config<GatScore, float>, Config<GatScore, double>, Config<GatScore, bfloat16>>;
TYPED_TEST_SUITE(AttentionForwardCuda, Configs);

TYPED_TEST(AttentionForwardCuda, EveryLayout) {
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
        check_forward<Score, T>(random_problem<Score, T>(shape, seed++));
        if (this->HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(AttentionForwardCuda, MoreHeadsThanAWarp) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  for (int64_t heads : {12, 17, 33, 64}) {
    for (int64_t dim : {8, 24}) {
      const Shape shape{.heads = heads, .key_dim = dim, .value_dim = dim, .terms = heads == 17};
      check_forward<Score, T>(random_problem<Score, T>(shape, 7));
      if (this->HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(AttentionForwardCuda, KeyAndValueDimDiffer) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  for (auto [key_dim, value_dim] : {std::pair{16, 64}, {64, 16}, {40, 8}, {8, 512}, {320, 24}}) {
    const Shape shape{.heads = 3, .key_dim = key_dim, .value_dim = value_dim};
    check_forward<Score, T>(random_problem<Score, T>(shape, 11));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(AttentionForwardCuda, UncutRows) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  check_forward<Score, T>(
      random_problem<Score, T>({.heads = 4, .key_dim = 32, .value_dim = 32, .chunk = 1 << 20}, 3));
}

TYPED_TEST(AttentionForwardCuda, RowsWithoutEdges) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  Problem p = random_problem<Score, T>({.heads = 2}, 5);
  p.edges.clear();
  check_forward<Score, T>(p);
  p.num_dst = 0;
  p.q.clear();
  check_forward<Score, T>(p);
}

TYPED_TEST(AttentionForwardCuda, LargeAndNegativeLogits) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  // Beyond what exp can take; not more, since float32 rounds logits in proportion to their size.
  const double large = sizeof(T) == 8 ? 1000 : 120;
  for (double bias : {-large, large}) {
    Problem p =
        random_problem<Score, T>({.heads = 4, .key_dim = 16, .value_dim = 16, .terms = true}, 13);
    for (double& x : p.bias) x += bias;
    p.bias = to_double(from_double<T>(p.bias));
    check_forward<Score, T>(p);
  }
}

TYPED_TEST(AttentionForwardCuda, MinusInfinityIsAbsence) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  Problem p =
      random_problem<Score, T>({.heads = 4, .key_dim = 16, .value_dim = 16, .terms = true}, 17);
  for (const Edge& e : p.edges) {
    for (int64_t h = 0; h < 4; ++h) {
      // Every third edge; all of rows 1 and 4, the latter cut; and the first chunk of row 3's.
      const bool off = e.id % 3 == 0 || e.dst == 1 || (e.dst == 4 && h != 2);
      if (off) p.bias[static_cast<size_t>(e.id * 4 + h)] = -kInf;
    }
  }
  int64_t seen = 0;
  for (const Edge& e : p.edges) {
    if (e.dst == 3 && seen++ < 8) {
      for (int64_t h = 0; h < 4; ++h) p.bias[static_cast<size_t>(e.id * 4 + h)] = -kInf;
    }
  }
  check_forward<Score, T>(p);
}

TYPED_TEST(AttentionForwardCuda, NanAndInfinityStayInTheirRows) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  Problem p =
      random_problem<Score, T>({.heads = 4, .key_dim = 16, .value_dim = 16, .terms = true}, 19);
  p.dropout = 0;  // 0 * infinity is not at issue here
  int64_t seen = 0;
  for (const Edge& e : p.edges) {
    if (e.dst == 2) p.bias[static_cast<size_t>(e.id * 4)] = seen++ == 30 ? kNan : 0;
    if (e.dst == 6) p.bias[static_cast<size_t>(e.id * 4 + 1)] = kInf;
    p.weight[static_cast<size_t>(e.id)] = 0.5;
  }
  // An infinite value is passed on, wherever in its row the edge is.
  p.v[static_cast<size_t>((p.edges.back().src * 4 + 3) * 16 + 5)] = kInf;
  p.v[static_cast<size_t>((p.edges.front().src * 4 + 2) * 16 + 1)] = kInf;
  check_forward<Score, T>(p);
}

TYPED_TEST(AttentionForwardCuda, InfiniteValueInAShortChunk) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  for (int64_t degree = 1; degree <= 9; ++degree) {
    Problem p = random_problem<Score, T>({.heads = 2, .key_dim = 32, .value_dim = 32}, 23, 1, 10);
    p.edges.clear();
    for (int64_t e = 0; e < degree; ++e) p.edges.push_back({0, e, e});
    p.v[static_cast<size_t>((degree - 1) * 64 + 7)] = kInf;
    check_forward<Score, T>(p);
  }
}

TYPED_TEST(AttentionForwardCuda, ManyRows) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  check_forward<Score, T>(random_problem<Score, T>({.heads = 1}, 29, 150000, 1000));
}

TYPED_TEST(AttentionForwardCuda, RepeatsBitForBit) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  const Problem p = random_problem<Score, T>(
      {.heads = 4, .key_dim = 40, .value_dim = 40, .terms = true, .chunk = 8}, 31);
  const auto a = run_forward<Score, T>(p), b = run_forward<Score, T>(p);
  EXPECT_EQ(std::memcmp(a.out.data(), b.out.data(), a.out.size() * sizeof(T)), 0);
  EXPECT_EQ(std::memcmp(a.lse.data(), b.lse.data(), a.lse.size() * sizeof(Acc<T>)), 0);
}

TYPED_TEST(AttentionForwardCuda, RefusesWhatItCannotDo) {
  using Score = typename TypeParam::Score;
  using T = typename TypeParam::T;
  const Problem good = random_problem<Score, T>({.heads = 1}, 37);
  Problem p = good;
  p.shape.value_dim = 9;
  EXPECT_THROW((run_forward<Score, T>(p)), Error);
  p.shape.value_dim = 520;
  EXPECT_THROW((run_forward<Score, T>(p)), Error);
  p = good;
  p.dropout = 1;
  EXPECT_THROW((run_forward<Score, T>(p)), Error);
  AttentionForward<T> x;
  x.graph.num_rows = 3, x.heads = 1, x.key_dim = x.value_dim = 8;
  EXPECT_THROW((attention_forward_cuda<Score, T>(x, Score::from_param(1), nullptr)), Error);
}

}  // namespace
}  // namespace sage::attention_test
