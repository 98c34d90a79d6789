// The attention ops, once for all devices. A backend B (attention_cpu.cpp, attention_cuda.cpp)
// brings the kernels; what is here checks, allocates and fills in.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>

#include "csrc/torch/attention_operands.h"
#include "kernels/segment/aggregate.h"

namespace sage::ops {

template <class B>
std::tuple<Tensor, Tensor> attention(const Tensor& indptr, const Tensor& indices,
                                     std::optional<Tensor> edge_ids, std::optional<Tensor> tasks,
                                     std::optional<Tensor> splits, std::optional<Tensor>,
                                     std::optional<Tensor>, std::optional<Tensor>,
                                     std::optional<Tensor>, std::optional<Tensor>,
                                     std::optional<Tensor>, const Tensor& q, const Tensor& k,
                                     const Tensor& v, std::optional<Tensor> edge_bias,
                                     std::optional<Tensor> edge_weight, std::optional<Tensor> seed,
                                     std::string score_name, double param, double dropout) {
  const DType dtype = dtype_of(q, "q");
  check_qkv(q, k, v, check_indptr(indptr));
  const CsrArgument graph = graph_argument(indptr, indices, edge_ids, k.size(0));
  check_same_device(indptr, "indptr", q, "q");
  const EdgeArguments edge(edge_bias, edge_weight, seed, dropout, q, graph.view.num_edges);
  const B backend(q);
  const ScheduleArgument schedule = B::schedule(tasks, splits, q, "tasks", "splits");
  std::optional<Tensor> out, lse;
  with_score(score_name, param, q, [&](auto score) {
    const FeatureRows rows(q, k, v, score.kPerFeature, B::kRowBytes);
    out = new_tensor(q, {q.size(0), rows.heads, rows.value_dim}, q.scalar_type());
    dispatch_dtype(dtype, [&]<class T>(Type<T>) {
      lse = new_tensor(q, {q.size(0), rows.heads}, kAccType<T>);
      const Tensor partial =
          new_tensor(q, {attention_forward_partial_size(schedule.view, rows.heads, rows.value_dim)},
                     kAccType<T>);
      AttentionForward<T> p;
      p.graph = graph.view;
      p.schedule = schedule.view;
      p.heads = rows.heads;
      p.key_dim = rows.key_dim;
      p.value_dim = rows.value_dim;
      p.q = data<T>(rows.q);
      p.k = data<T>(rows.k);
      p.v = data<T>(rows.v);
      p.edge = edge.terms<T>();
      p.out = mutable_data<T>(*out);
      p.lse = mutable_data<Acc<T>>(*lse);
      p.partial = mutable_data<Acc<T>>(partial);
      if (q.size(0) > 0) backend.forward(p, score);
    });
  });
  return {without_padding(*out, v.size(2)), *lse};
}

// dq from dsum [edges, H], which lies in the transpose's order: a weighted sum of k for a bilinear
// score, the plain sum of dsum where q is one number a head.
template <class Score, class B, class T>
void query_gradient(const B& backend, const CsrView& graph, const ScheduleView& schedule,
                    IndexSpan position, const FeatureRows& rows, const Tensor& dsum,
                    const Tensor& dq) {
  const int64_t row_elements = rows.heads * rows.key_dim;
  const Tensor partial = new_tensor(
      dq, {aggregate_partial_size<T>(schedule, row_elements, Reduce::kSum)}, kAccType<T>);
  if constexpr (Score::kBilinear) {
    Aggregate<T> p;
    p.graph = graph;
    p.schedule = schedule;
    p.heads = rows.heads;
    p.dim = rows.key_dim;
    p.reduce = Reduce::kSum;
    p.x = data<T>(rows.k);
    p.weight = data<T>(dsum);
    p.weight_heads = rows.heads;
    p.weight_position = position;
    p.out = mutable_data<T>(dq);
    p.partial = mutable_data<Acc<T>>(partial);
    backend.aggregate(p);
  } else {
    static_assert(!Score::kPerFeature,
                  "a score that is neither bilinear nor one number a head "
                  "needs a pass of its own for the gradient of q");
    EdgeSum<T> p;
    p.graph = graph;
    p.schedule = schedule;
    p.heads = rows.heads;
    p.weight = data<T>(dsum);
    p.weight_position = position;
    p.out = mutable_data<T>(dq);
    p.partial = mutable_data<Acc<T>>(partial);
    backend.edge_sum(p);
  }
}

template <class B>
std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor> attention_backward(
    const Tensor& indptr, const Tensor& indices, std::optional<Tensor> edge_ids,
    std::optional<Tensor> tasks, std::optional<Tensor> splits, std::optional<Tensor> t_indptr,
    std::optional<Tensor> t_indices, std::optional<Tensor> t_edge_ids,
    std::optional<Tensor> t_position, std::optional<Tensor> t_tasks, std::optional<Tensor> t_splits,
    const Tensor& grad, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
    const Tensor& lse, std::optional<Tensor> edge_bias, std::optional<Tensor> edge_weight,
    std::optional<Tensor> seed, std::string score_name, double param, double dropout,
    bool need_bias, bool need_weight) {
  const DType dtype = dtype_of(q, "q");
  check_qkv(q, k, v, check_indptr(indptr));
  const int64_t heads = q.size(1);
  for (const auto& [t, name] : {std::pair{&grad, "grad"}, {&out, "out"}}) {
    check_like(*t, name, q, "q");
    check_shape(*t, name, {q.size(0), heads, v.size(2)}, "nodes and heads of q, head_dim of v");
  }
  check_shape(lse, "lse", {q.size(0), heads}, "nodes and heads of q");
  check_same_device(lse, "lse", q, "q");
  const CsrArgument graph = graph_argument(indptr, indices, edge_ids, k.size(0));
  check_same_device(indptr, "indptr", q, "q");
  const EdgeArguments edge(edge_bias, edge_weight, seed, dropout, q, graph.view.num_edges);
  check(!need_bias || edge_bias, [] { return "need_bias asks for edge_bias, got none"; });
  check(!need_weight || edge_weight, [] { return "need_weight asks for edge_weight, got none"; });
  const TransposeArguments transpose = TransposeArguments::make(
      t_indptr, t_indices, t_edge_ids, t_position, graph.view, q, edge.any());
  const B backend(q);
  const ScheduleArgument schedule = B::schedule(tasks, splits, q, "tasks", "splits");
  const ScheduleArgument t_schedule = B::schedule(t_tasks, t_splits, q, "t_tasks", "t_splits");

  const Tensor dbias =
      need_bias ? new_zeros(q, {edge_bias->size(0), heads}) : no_tensor(q, q.scalar_type());
  const Tensor dweight =
      need_weight ? new_zeros(q, {edge_weight->size(0), heads}) : no_tensor(q, q.scalar_type());
  std::optional<Tensor> dq, dk, dv;
  with_score(score_name, param, q, [&](auto score) {
    const FeatureRows rows(q, k, v, score.kPerFeature, B::kRowBytes);
    const Tensor g = aligned_rows(grad, rows.value_dim, B::kRowBytes);
    const Tensor o = aligned_rows(out, rows.value_dim, B::kRowBytes);
    const auto features = [&](int64_t nodes, int64_t dim) {
      return new_tensor(q, {nodes, heads, dim}, q.scalar_type());
    };
    dq = features(q.size(0), rows.key_dim);
    dk = features(k.size(0), rows.key_dim);
    dv = features(k.size(0), rows.value_dim);
    const Tensor dsum = new_tensor(q, {graph.view.num_edges, heads}, q.scalar_type());
    dispatch_dtype(dtype, [&]<class T>(Type<T>) {
      check_dtype(lse, "lse", kAccType<T>);
      const Tensor lse_delta = new_tensor(q, {q.size(0), heads, 2}, kAccType<T>);
      const Tensor partial = new_tensor(
          q, {attention_source_partial_size(t_schedule.view, heads, rows.key_dim, rows.value_dim)},
          kAccType<T>);
      if (q.size(0) > 0) {
        backend.delta(q.size(0) * heads, rows.value_dim, data<T>(g), data<T>(o),
                      data<Acc<T>>(as_contiguous(lse)), mutable_data<Acc<T>>(lse_delta));
      }
      AttentionSourcePass<T> p;
      p.graph = transpose.graph.view;
      p.schedule = t_schedule.view;
      p.heads = heads;
      p.key_dim = rows.key_dim;
      p.value_dim = rows.value_dim;
      p.q = data<T>(rows.q);
      p.k = data<T>(rows.k);
      p.v = data<T>(rows.v);
      p.grad = data<T>(g);
      p.lse_delta = data<Acc<T>>(lse_delta);
      p.edge = edge.terms<T>();
      p.dk = mutable_data<T>(*dk);
      p.dv = mutable_data<T>(*dv);
      p.dsum = mutable_data<T>(dsum);
      p.dbias = need_bias ? mutable_data<T>(dbias) : nullptr;
      p.dweight = need_weight ? mutable_data<T>(dweight) : nullptr;
      p.partial = mutable_data<Acc<T>>(partial);
      if (k.size(0) > 0) backend.source_pass(p, score);
      if (q.size(0) > 0) {
        query_gradient<decltype(score), B, T>(backend, graph.view, schedule.view,
                                              index_span(transpose.position), rows, dsum, *dq);
      }
    });
  });
  return {without_padding(*dq, q.size(2)), without_padding(*dk, k.size(2)),
          without_padding(*dv, v.size(2)), dbias,
          need_weight ? sum_heads(dweight, edge.weight_heads()) : dweight};
}

template <class B>
Tensor edge_dot(const Tensor& indptr, const Tensor& indices, std::optional<Tensor> tasks,
                std::optional<Tensor> splits, const Tensor& x, const Tensor& y) {
  const DType dtype = dtype_of(x, "x");
  check_features(x, "x");
  check_features(y, "y");
  check_head_dim(x, "x");
  check_like(y, "y", x, "x");
  const CsrArgument graph = graph_argument(indptr, indices, std::nullopt, y.size(0));
  check_same_device(indptr, "indptr", x, "x");
  check_shape(x, "x", {graph.view.num_rows, x.size(1), x.size(2)}, "nodes of indptr");
  check_shape(y, "y", {y.size(0), x.size(1), x.size(2)}, "like x in heads and head_dim");
  const B backend(x);
  const ScheduleArgument schedule = B::schedule(tasks, splits, x, "tasks", "splits");
  const int64_t wide = padded_dim(x.size(2), x.scalar_type(), B::kRowBytes);
  const Tensor left = aligned_rows(x, wide, B::kRowBytes);
  const Tensor right = aligned_rows(y, wide, B::kRowBytes);
  const Tensor out = new_zeros(x, {graph.view.num_edges, x.size(1)});
  dispatch_dtype(dtype, [&]<class T>(Type<T>) {
    EdgeDot<T> p;
    p.graph = graph.view;
    p.schedule = schedule.view;
    p.heads = x.size(1);
    p.dim = wide;
    p.x = data<T>(left);
    p.y = data<T>(right);
    p.out = mutable_data<T>(out);
    if (graph.view.num_rows > 0) backend.edge_dot(p);
  });
  return out;
}

}  // namespace sage::ops
