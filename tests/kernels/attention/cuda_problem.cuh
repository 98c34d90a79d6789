// Random attention problems, and attention with its gradients in double precision, written from the
// formula.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/attention/score_list.h"
#include "kernels/core/philox.h"
#include "tests/kernels/attention/cuda_graph.cuh"

namespace sage::attention_test {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Shapes and terms of a random problem.
struct Shape {
  int64_t heads = 1, key_dim = 8, value_dim = 8;
  bool terms = false;        // bias, weight and dropout
  int64_t weight_heads = 1;  // 1 or heads
  bool wide = false;         // 8-byte indices
  int64_t chunk = 40;
};

// Values as T holds them, kept in double precision.
struct Problem {
  Shape shape;
  double param = 0;
  int64_t num_dst = 0, num_src = 0;
  std::vector<Edge> edges;
  std::vector<double> q, k, v, grad, bias, weight;
  double dropout = 0;
  int64_t seed = 1234567;
};

inline std::vector<Edge> random_edges(int64_t num_dst, int64_t num_src, std::mt19937_64& random) {
  std::vector<int64_t> degrees(static_cast<size_t>(num_dst));
  for (int64_t& degree : degrees) degree = static_cast<int64_t>(random() % 6);
  const int64_t fixed[] = {0, 31, 32, 33, 150, 40, 41, 0};  // 150: a hub beyond the chunk
  for (size_t i = 0; i < std::size(fixed) && i < degrees.size(); ++i) degrees[i] = fixed[i];
  std::vector<Edge> edges;
  for (int64_t i = 0; i < num_dst; ++i) {
    for (int64_t e = 0; e < degrees[static_cast<size_t>(i)]; ++e) {
      // Source 3 is a hub too; repeated edges occur.
      const auto src = static_cast<int64_t>(random() % static_cast<uint64_t>(num_src));
      edges.push_back({i, random() % 4 == 0 ? 3 : src, 0});
    }
  }
  std::vector<int64_t> ids(edges.size());
  for (size_t e = 0; e < ids.size(); ++e) ids[e] = static_cast<int64_t>(e);
  std::shuffle(ids.begin(), ids.end(), random);
  for (size_t e = 0; e < ids.size(); ++e) edges[e].id = ids[e];
  return edges;
}

template <class T>
std::vector<double> random_values(int64_t count, double scale, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-scale, scale);
  std::vector<double> x(static_cast<size_t>(count));
  for (double& value : x) value = uniform(random);
  return to_double(from_double<T>(x));
}

template <class Score, class T>
Problem random_problem(const Shape& shape, uint64_t seed, int64_t num_dst = 40,
                       int64_t num_src = 30) {
  std::mt19937_64 random(seed);
  Problem p;
  p.shape = shape;
  if constexpr (!Score::kPerFeature) p.shape.key_dim = 1;
  p.param = Score::kPerFeature ? 1.5 / std::sqrt(static_cast<double>(shape.key_dim)) : 0.2;
  p.num_dst = num_dst, p.num_src = num_src;
  p.edges = random_edges(num_dst, num_src, random);
  const int64_t h = shape.heads, count = static_cast<int64_t>(p.edges.size());
  p.q = random_values<T>(num_dst * h * p.shape.key_dim, 2, random);
  p.k = random_values<T>(num_src * h * p.shape.key_dim, 2, random);
  p.v = random_values<T>(num_src * h * shape.value_dim, 1, random);
  p.grad = random_values<T>(num_dst * h * shape.value_dim, 1, random);
  if (shape.terms) {
    p.bias = random_values<T>(count * h, 1, random);
    p.weight = random_values<T>(count * shape.weight_heads, 1, random);
    p.dropout = 0.25;
  }
  return p;
}

// sum over c of partial(q, k) of edge e and head h, the logit, and d logit / d sum.
struct LogitParts {
  double sum, logit, slope;
};
template <class Score>
LogitParts formula_logit(const Problem& p, size_t e, int64_t h) {
  const int64_t d = p.shape.key_dim, i = p.edges[e].dst, j = p.edges[e].src;
  const double* q = p.q.data() + (i * p.shape.heads + h) * d;
  const double* k = p.k.data() + (j * p.shape.heads + h) * d;
  LogitParts x{};
  if constexpr (Score::kPerFeature) {
    for (int64_t c = 0; c < d; ++c) x.sum += q[c] * k[c];
    x.slope = p.param;
    x.logit = p.param * x.sum;
  } else {
    x.sum = *q + *k;
    x.slope = x.sum > 0 ? 1 : p.param;
    x.logit = x.slope * x.sum;
  }
  if (!p.bias.empty()) x.logit += p.bias[static_cast<size_t>(p.edges[e].id * p.shape.heads + h)];
  return x;
}

struct Expected {
  std::vector<double> out, lse, dk, dv, lse_delta;
  std::vector<double> dsum;            // [edges in the problem's order, H]
  std::vector<double> dbias, dweight;  // [edge ids, H]
};

template <class Score>
Expected oracle(const Problem& p, bool with_gradients) {
  const int64_t heads = p.shape.heads, dk = p.shape.key_dim, dv = p.shape.value_dim;
  Expected x;
  x.out.resize(static_cast<size_t>(p.num_dst * heads * dv));
  x.lse.resize(static_cast<size_t>(p.num_dst * heads), -kInf);
  x.lse_delta.resize(x.lse.size() * 2);
  x.dk.resize(p.k.size());
  x.dv.resize(p.v.size());
  x.dsum.resize(p.edges.size() * static_cast<size_t>(heads));
  x.dbias = x.dweight = x.dsum;
  const uint32_t threshold = dropout_threshold(p.dropout);
  std::vector<std::vector<size_t>> rows(static_cast<size_t>(p.num_dst));
  for (size_t e = 0; e < p.edges.size(); ++e)
    rows[static_cast<size_t>(p.edges[e].dst)].push_back(e);
  for (int64_t i = 0; i < p.num_dst; ++i) {
    const auto& row = rows[static_cast<size_t>(i)];
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t at = i * heads + h;
      std::vector<LogitParts> parts;
      double top = -kInf, sum = 0;
      bool nan = false;
      for (size_t e : row) {
        parts.push_back(formula_logit<Score>(p, e, h));
        top = std::max(top, parts.back().logit);
        nan |= std::isnan(parts.back().logit);
      }
      const bool weightless = top == -kInf && !nan;
      for (const auto& part : parts) sum += weightless ? 0 : std::exp(part.logit - top);
      if (!weightless) x.lse[static_cast<size_t>(at)] = nan ? kNan : top + std::log(sum);
      std::vector<double> alpha, factor, keep, value_dot;
      double delta = 0;
      for (size_t n = 0; n < row.size(); ++n) {
        const Edge& edge = p.edges[row[n]];
        alpha.push_back(weightless ? 0 : std::exp(parts[n].logit - top) / sum);
        keep.push_back(p.dropout == 0 ? 1
                       : dropout_keep(static_cast<uint64_t>(p.seed), edge.id, h, threshold)
                           ? 1 / (1 - p.dropout)
                           : 0);
        const int64_t wide = p.shape.weight_heads;
        const int64_t weight_at = edge.id * wide + (wide == 1 ? 0 : h);
        factor.push_back(keep[n] *
                         (p.weight.empty() ? 1 : p.weight[static_cast<size_t>(weight_at)]));
        const double* v = p.v.data() + (edge.src * heads + h) * dv;
        const double* grad = p.grad.data() + at * dv;
        double dot = 0;
        for (int64_t c = 0; c < dv; ++c) {
          x.out[static_cast<size_t>(at * dv + c)] += alpha[n] * factor[n] * v[c];
          dot += grad[c] * v[c];
        }
        value_dot.push_back(dot);
        delta += alpha[n] * factor[n] * dot;
      }
      x.lse_delta[static_cast<size_t>(2 * at)] = x.lse[static_cast<size_t>(at)];
      x.lse_delta[static_cast<size_t>(2 * at + 1)] = delta;
      if (!with_gradients) continue;
      for (size_t n = 0; n < row.size(); ++n) {
        const Edge& edge = p.edges[row[n]];
        const double dlogit = alpha[n] * (factor[n] * value_dot[n] - delta);
        const double dsum = parts[n].slope * dlogit;
        const auto by_id = static_cast<size_t>(edge.id * heads + h);
        x.dsum[row[n] * static_cast<size_t>(heads) + static_cast<size_t>(h)] = dsum;
        x.dbias[by_id] = dlogit;
        x.dweight[by_id] = alpha[n] * keep[n] * value_dot[n];
        for (int64_t c = 0; c < dv; ++c) {
          x.dv[static_cast<size_t>((edge.src * heads + h) * dv + c)] +=
              alpha[n] * factor[n] * p.grad[static_cast<size_t>(at * dv + c)];
        }
        for (int64_t c = 0; c < dk; ++c) {
          x.dk[static_cast<size_t>((edge.src * heads + h) * dk + c)] +=
              dsum * (Score::kPerFeature ? p.q[static_cast<size_t>(at * dk + c)] : 1);
        }
      }
    }
  }
  return x;
}

template <class T>
inline constexpr double kTolerance = sizeof(T) == 8   ? 1e-12
                                     : sizeof(T) == 4 ? 2e-5
                                                      : 1e-2;

// Same NaNs and infinities; otherwise close as a whole and element by element.
inline void expect_close(const std::vector<double>& got, const std::vector<double>& want,
                         double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double error = 0, norm = 0;
  size_t finite = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isfinite(want[i])) {
      ASSERT_TRUE(std::isfinite(got[i]))
          << what << '[' << i << "] = " << got[i] << ", not " << want[i];
      error += (got[i] - want[i]) * (got[i] - want[i]);
      norm += want[i] * want[i];
      ++finite;
    } else {
      ASSERT_TRUE(std::isnan(want[i]) ? std::isnan(got[i]) : got[i] == want[i])
          << what << '[' << i << "] = " << got[i] << ", not " << want[i];
    }
  }
  ASSERT_LE(std::sqrt(error), tolerance * std::sqrt(norm)) << what;
  const double rms = finite == 0 ? 0 : std::sqrt(norm / static_cast<double>(finite));
  for (size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(want[i])) continue;
    ASSERT_LE(std::abs(got[i] - want[i]), 4 * tolerance * std::max(std::abs(want[i]), rms))
        << what << '[' << i << "] = " << got[i] << ", not " << want[i];
  }
}

}  // namespace sage::attention_test
