// The operands of the attention ops: checked against each other, then made what the device wants.
#pragma once

#include <optional>
#include <string>

#include "csrc/torch/aligned_rows.h"
#include "csrc/torch/graph_argument.h"
#include "csrc/torch/operands.h"
#include "csrc/torch/tensor_utils.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/score_list.h"

namespace sage::ops {

inline constexpr int64_t kMaxHeadDim = 512;

inline void check_head_dim(const Tensor& t, const char* name) {
  check(t.size(2) <= kMaxHeadDim, [&] {
    return std::string(name) + " must have head_dim 1.." + std::to_string(kMaxHeadDim) + ", got " +
           shape_text(t);
  });
}

// Calls f(score) for the score of that name, after checking what it asks of q.
template <class F>
void with_score(const std::string& name, double param, const Tensor& q, F&& f) {
  dispatch_score(Scores{}, name, param, [&](auto score) {
    using Score = decltype(score);
    check(Score::kPerFeature || q.size(2) == 1, [&] {
      return "q must be [nodes, heads, 1] for score '" + name + "', one number a head, got " +
             shape_text(q);
    });
    f(score);
  });
}

// Bias, weight and dropout.
struct EdgeArguments {
  std::optional<Tensor> bias, weight, seed;
  double dropout;

  EdgeArguments(const std::optional<Tensor>& edge_bias, const std::optional<Tensor>& edge_weight,
                const std::optional<Tensor>& seed_argument, double dropout_argument,
                const Tensor& q, int64_t num_edges)
      : bias(edge_bias), weight(edge_weight), seed(seed_argument), dropout(dropout_argument) {
    const int64_t heads = q.size(1);
    if (bias) {
      check_like(*bias, "edge_bias", q, "q");
      check_edge_operand(*bias, "edge_bias", num_edges, heads, false);
    }
    if (weight) {
      check_like(*weight, "edge_weight", q, "q");
      check_edge_operand(*weight, "edge_weight", num_edges, heads, true);
    }
    check(dropout >= 0 && dropout < 1,
          [&] { return "dropout must be in [0, 1), got " + std::to_string(dropout); });
    check(dropout == 0 || seed,
          [] { return "dropout needs seed, an int64 tensor of one element"; });
    if (seed) {
      check_dtype(*seed, "seed", ScalarType::Long);
      check_same_device(*seed, "seed", q, "q");
      check(seed->numel() == 1,
            [&] { return "seed must have one element, got " + shape_text(*seed); });
    }
    bias = as_contiguous(bias), weight = as_contiguous(weight), seed = as_contiguous(seed);
  }
  bool any() const { return bias || weight || dropout > 0; }
  int64_t weight_heads() const { return weight ? weight->size(1) : 1; }

  template <class T>
  EdgeTerms<T> terms() const {
    EdgeTerms<T> t;
    t.bias = data<T>(bias);
    t.weight = data<T>(weight);
    t.weight_heads = weight_heads();
    t.dropout = dropout;
    t.seed = data<int64_t>(seed);
    return t;
  }
};

// Shapes and dtypes of q, k and v for a graph; the number of sources is k's.
inline void check_qkv(const Tensor& q, const Tensor& k, const Tensor& v, int64_t num_rows) {
  check_features(q, "q");
  check_features(k, "k");
  check_features(v, "v");
  check_head_dim(q, "q");
  check_head_dim(v, "v");
  check_like(k, "k", q, "q");
  check_like(v, "v", q, "q");
  check_shape(q, "q", {num_rows, q.size(1), q.size(2)}, "nodes of indptr");
  check_shape(k, "k", {k.size(0), q.size(1), q.size(2)}, "like q in heads and head_dim");
  check_shape(v, "v", {k.size(0), q.size(1), v.size(2)}, "like k in nodes, like q in heads");
}

// q, k and v as the device wants them. Only rows that are read feature by feature are padded.
struct FeatureRows {
  int64_t heads, key_dim, value_dim;  // padded
  Tensor q, k, v;

  FeatureRows(const Tensor& q_, const Tensor& k_, const Tensor& v_, bool per_feature,
              int64_t row_bytes)
      : heads(q_.size(1)),
        key_dim(padded_dim(q_.size(2), q_.scalar_type(), per_feature ? row_bytes : 1)),
        value_dim(padded_dim(v_.size(2), q_.scalar_type(), row_bytes)),
        q(aligned_rows(q_, key_dim, per_feature ? row_bytes : 1)),
        k(aligned_rows(k_, key_dim, per_feature ? row_bytes : 1)),
        v(aligned_rows(v_, value_dim, row_bytes)) {}
};

// The transpose, which the backward cannot do without.
struct TransposeArguments {
  CsrArgument graph;
  Tensor position;

  static TransposeArguments make(const std::optional<Tensor>& t_indptr,
                                 const std::optional<Tensor>& t_indices,
                                 const std::optional<Tensor>& t_edge_ids,
                                 const std::optional<Tensor>& t_position, const CsrView& forward,
                                 const Tensor& q, bool needs_ids) {
    check(t_indptr && t_indices && t_position && (t_edge_ids || !needs_ids), [] {
      return "attention_backward needs the transpose: build the graph with t_indptr, t_indices, "
             "t_edge_ids and t_position, from torch.ops.sage.csr_transpose";
    });
    TransposeArguments a{
        graph_argument(*t_indptr, *t_indices, t_edge_ids, forward.num_rows, kTransposeNames),
        as_contiguous(*t_position)};
    check_same_device(*t_indptr, "t_indptr", q, "q");
    check_size(*t_indptr, "t_indptr", 0, forward.num_cols + 1);
    check_size(*t_indices, "t_indices", 0, forward.num_edges);
    check_index(*t_position, "t_position");
    check_size(*t_position, "t_position", 0, forward.num_edges);
    check_same_device(*t_position, "t_position", q, "q");
    if (q.is_cpu()) {
      check_ids(index_span(a.position), owned_edges(forward), forward.num_edges, "t_position");
    }
    return a;
  }
};

}  // namespace sage::ops
