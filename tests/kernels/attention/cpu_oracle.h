// Attention and its gradients in double precision, written from the formula, for the tests of the
// CPU kernels.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/attention/score_list.h"
#include "kernels/core/philox.h"
#include "tests/kernels/core/cpu_graphs.h"

namespace sage::cpu_test {

// Operands as doubles that T represents exactly. bias, weight: empty or by edge id.
struct AttentionCase {
  Graph graph;
  int64_t heads = 1, key_dim = 1, value_dim = 1, weight_heads = 1;
  double param = 0, dropout = 0;
  int64_t seed = 987654321;
  std::vector<double> q, k, v, grad, bias, weight;

  size_t at(int64_t node, int64_t h, int64_t dim, int64_t c) const {
    return static_cast<size_t>((node * heads + h) * dim + c);
  }
};

enum Terms { kPlain, kBias, kAllTerms, kHeadWeights };

template <class Score, class T>
AttentionCase make_case(const Graph& graph, int64_t heads, int64_t dim, Terms terms = kPlain) {
  AttentionCase c;
  c.graph = graph, c.heads = heads, c.value_dim = dim;
  c.key_dim = Score::kPerFeature ? dim : 1;
  c.param = Score::kPerFeature ? 2 / std::sqrt(static_cast<double>(dim)) : 0.2;
  c.q = random_values<T>(graph.num_rows() * heads * c.key_dim, 1);
  c.k = random_values<T>(graph.num_cols * heads * c.key_dim, 2);
  c.v = random_values<T>(graph.num_cols * heads * dim, 3);
  c.grad = random_values<T>(graph.num_rows() * heads * dim, 4);
  if (terms != kPlain) c.bias = random_values<T>(graph.num_edges() * heads, 5);
  if (terms == kAllTerms || terms == kHeadWeights) {
    c.weight_heads = terms == kHeadWeights ? heads : 1;
    c.weight = random_values<T>(graph.num_edges() * c.weight_heads, 6);
    c.dropout = 0.3;
  }
  return c;
}

// d is the derivative of the logit by `sum`.
struct Logit {
  double sum, value, d;
};
template <class Score>
Logit logit_of(const AttentionCase& c, int64_t row, int64_t e, int64_t h) {
  const int64_t j = c.graph.col(e);
  double sum = 0;
  Logit result{};
  for (int64_t i = 0; i < c.key_dim; ++i) {
    const double q = c.q[c.at(row, h, c.key_dim, i)], k = c.k[c.at(j, h, c.key_dim, i)];
    sum += Score::kPerFeature ? q * k : q + k;
  }
  const bool dot = std::string(Score::kName) == "dot";  // else gat: leaky ReLU
  const double slope = dot || sum <= 0 ? c.param : 1;
  result = {sum, slope * sum, slope};
  if (!c.bias.empty()) result.value += c.bias[c.at(c.graph.id(e), h, 1, 0)];
  return result;
}

struct AttentionTruth {
  std::vector<double> out, lse, dq, dk, dv;
  std::vector<double> dsum, dbias, dweight;  // [num_edges, H] by edge id
  std::vector<double> lse_delta;             // [num_rows, H, 2]
};

template <class Score>
AttentionTruth attention_truth(const AttentionCase& c) {
  const Graph& g = c.graph;
  AttentionTruth t;
  t.out.resize(c.grad.size()), t.dv.resize(c.v.size());
  t.dq.resize(c.q.size()), t.dk.resize(c.k.size());
  t.lse.resize(static_cast<size_t>(g.num_rows() * c.heads));
  t.lse_delta.resize(2 * t.lse.size());
  t.dsum.resize(static_cast<size_t>(g.num_edges() * c.heads));
  t.dbias = t.dweight = t.dsum;
  for (int64_t row = 0; row < g.num_rows(); ++row) {
    for (int64_t h = 0; h < c.heads; ++h) {
      double max = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int64_t e = g.begin(row); e < g.end(row); ++e) {
        const double x = logit_of<Score>(c, row, e, h).value;
        if (x > max || std::isnan(x)) max = x;
        if (std::isnan(max)) break;
      }
      const bool nothing = max == -std::numeric_limits<double>::infinity();
      for (int64_t e = g.begin(row); e < g.end(row) && !nothing; ++e) {
        sum += std::exp(logit_of<Score>(c, row, e, h).value - max);
      }
      const double lse = max + std::log(sum);
      // alpha, what it is multiplied by, and grad . v for one edge
      const auto edge = [&](int64_t e, double& p, double& keep, double& weight, double& grad_v) {
        const int64_t id = g.id(e);
        p = nothing ? 0 : std::exp(logit_of<Score>(c, row, e, h).value - lse);
        keep = 1, weight = 1, grad_v = 0;
        if (c.dropout > 0) {
          keep = dropout_keep(static_cast<uint64_t>(c.seed), id, h, dropout_threshold(c.dropout))
                     ? 1 / (1 - c.dropout)
                     : 0;
        }
        if (!c.weight.empty()) {
          weight =
              c.weight[static_cast<size_t>(id * c.weight_heads + (c.weight_heads > 1 ? h : 0))];
        }
        for (int64_t i = 0; i < c.value_dim; ++i) {
          grad_v += c.grad[c.at(row, h, c.value_dim, i)] * c.v[c.at(g.col(e), h, c.value_dim, i)];
        }
      };
      double delta = 0, p, keep, weight, grad_v;
      for (int64_t e = g.begin(row); e < g.end(row); ++e) {
        edge(e, p, keep, weight, grad_v);
        for (int64_t i = 0; i < c.value_dim; ++i) {
          t.out[c.at(row, h, c.value_dim, i)] +=
              p * keep * weight * c.v[c.at(g.col(e), h, c.value_dim, i)];
        }
        delta += p * keep * weight * grad_v;
      }
      const size_t at = c.at(row, h, 1, 0);
      t.lse[at] = t.lse_delta[2 * at] = lse;
      t.lse_delta[2 * at + 1] = delta;
      for (int64_t e = g.begin(row); e < g.end(row); ++e) {
        edge(e, p, keep, weight, grad_v);
        const double dlogit = p * (keep * weight * grad_v - delta);
        const double dsum = dlogit * logit_of<Score>(c, row, e, h).d;
        const size_t by_id = c.at(g.id(e), h, 1, 0);
        t.dbias[by_id] = dlogit, t.dsum[by_id] = dsum, t.dweight[by_id] = p * keep * grad_v;
        for (int64_t i = 0; i < c.value_dim; ++i) {
          t.dv[c.at(g.col(e), h, c.value_dim, i)] +=
              p * keep * weight * c.grad[c.at(row, h, c.value_dim, i)];
        }
        for (int64_t i = 0; i < c.key_dim; ++i) {
          const size_t q = c.at(row, h, c.key_dim, i), k = c.at(g.col(e), h, c.key_dim, i);
          t.dq[q] += dsum * (Score::kPerFeature ? c.k[k] : 1);
          t.dk[k] += dsum * (Score::kPerFeature ? c.q[q] : 1);
        }
      }
    }
  }
  return t;
}

// bias, weight, dropout and seed as a kernel takes them.
template <class T>
struct TermArrays {
  std::vector<T> bias, weight;
  int64_t seed;
  double dropout;
  int64_t weight_heads;

  explicit TermArrays(const AttentionCase& c)
      : bias(convert<T>(c.bias)),
        weight(convert<T>(c.weight)),
        seed(c.seed),
        dropout(c.dropout),
        weight_heads(c.weight_heads) {}
  EdgeTerms<T> view() const {
    return {bias.empty() ? nullptr : bias.data(), weight.empty() ? nullptr : weight.data(),
            weight_heads, dropout, &seed};
  }
};

}  // namespace sage::cpu_test
