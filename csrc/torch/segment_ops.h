// The segment ops, once for all devices. A backend B (segment_cpu.cpp, segment_cuda.cpp) brings the
// kernels; what is here checks, allocates and fills in.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "csrc/torch/aligned_rows.h"
#include "csrc/torch/graph_argument.h"
#include "csrc/torch/operands.h"
#include "csrc/torch/tensor_utils.h"
#include "kernels/segment/aggregate.h"
#include "kernels/segment/segment.h"

namespace sage::ops {

// `allowed`: how many of sum, mean, max, min an op knows.
inline Reduce reduce_of(const std::string& name, int allowed) {
  constexpr const char* kNames[] = {"sum", "mean", "max", "min"};
  std::string known;
  for (int i = 0; i < allowed; ++i) {
    if (name == kNames[i]) return static_cast<Reduce>(i);
    known += (i > 0 ? ", " : "") + std::string(kNames[i]);
  }
  throw Error("reduce must be one of " + known + ", got '" + name + "'");
}

inline bool keeps_winner(Reduce reduce) { return reduce == Reduce::kMax || reduce == Reduce::kMin; }

// t's shape with another first dimension.
inline std::vector<int64_t> shape_with_rows(const Tensor& t, int64_t rows) {
  std::vector<int64_t> shape(t.sizes().begin(), t.sizes().end());
  shape[0] = rows;
  return shape;
}

// Segments of a [rows, ...] operand.
struct SegmentsArgument {
  Tensor indptr;
  int64_t num_segments, num_rows, width = 1;

  // `t` has the shape of a row in its dimensions from the second on.
  SegmentsArgument(const Tensor& t, const char* name, const Tensor& indptr_argument, int64_t rows)
      : indptr(as_contiguous(indptr_argument)),
        num_segments(check_indptr(indptr_argument)),
        num_rows(rows) {
    check(t.dim() >= 1, [&] { return std::string(name) + " must have at least one dimension"; });
    check_same_device(indptr_argument, "indptr", t, name);
    for (int64_t i = 1; i < t.dim(); ++i) width *= t.size(i);
  }
  template <class T>
  Segments<T> view() const {
    return {data<int64_t>(indptr), num_segments, num_rows, width};
  }
};

template <class B>
Tensor segment_softmax(const Tensor& src, const Tensor& indptr) {
  check(src.dim() >= 1, [] { return "src must have at least one dimension"; });
  const DType dtype = dtype_of(src, "src");
  const SegmentsArgument segments(src, "src", indptr, src.size(0));
  const B backend(src);
  const Tensor in = as_contiguous(src);
  const Tensor out = new_tensor(src, src.sizes(), src.scalar_type());
  dispatch_dtype(dtype, [&]<class T>(Type<T>) {
    backend.softmax(segments.view<T>(), data<T>(in), mutable_data<T>(out));
  });
  return out;
}

template <class B>
Tensor segment_softmax_backward(const Tensor& grad, const Tensor& out, const Tensor& indptr) {
  check(out.dim() >= 1, [] { return "out must have at least one dimension"; });
  check_like(grad, "grad", out, "out");
  check(shape_text(grad) == shape_text(out), [&] {
    return "grad must have the shape of out, " + shape_text(out) + ", got " + shape_text(grad);
  });
  const DType dtype = dtype_of(out, "out");
  const SegmentsArgument segments(out, "out", indptr, out.size(0));
  const B backend(out);
  const Tensor g = as_contiguous(grad), o = as_contiguous(out);
  const Tensor dsrc = new_tensor(out, out.sizes(), out.scalar_type());
  dispatch_dtype(dtype, [&]<class T>(Type<T>) {
    backend.softmax_backward(segments.view<T>(), data<T>(g), data<T>(o), mutable_data<T>(dsrc));
  });
  return dsrc;
}

template <class B>
std::tuple<Tensor, Tensor> segment_reduce(const Tensor& src, const Tensor& indptr,
                                          std::string reduce_name) {
  check(src.dim() >= 1, [] { return "src must have at least one dimension"; });
  const DType dtype = dtype_of(src, "src");
  const Reduce reduce = reduce_of(reduce_name, 4);
  const SegmentsArgument segments(src, "src", indptr, src.size(0));
  const B backend(src);
  const Tensor in = as_contiguous(src);
  const std::vector<int64_t> shape = shape_with_rows(src, segments.num_segments);
  const Tensor out = new_tensor(src, shape, src.scalar_type());
  const Tensor arg = keeps_winner(reduce) ? new_tensor(src, shape, ScalarType::Long)
                                          : no_tensor(src, ScalarType::Long);
  dispatch_dtype(dtype, [&]<class T>(Type<T>) {
    backend.reduce(segments.view<T>(), reduce, data<T>(in), mutable_data<T>(out),
                   mutable_data<int64_t>(arg));
  });
  return {out, arg};
}

template <class B>
Tensor segment_reduce_backward(const Tensor& grad, const Tensor& indptr, const Tensor& arg,
                               int64_t num_rows, std::string reduce_name) {
  const DType dtype = dtype_of(grad, "grad");
  const Reduce reduce = reduce_of(reduce_name, 4);
  check_count(num_rows, "num_rows");
  const SegmentsArgument segments(grad, "grad", indptr, num_rows);
  check_size(grad, "grad", 0, segments.num_segments);
  if (keeps_winner(reduce)) {
    check_dtype(arg, "arg", ScalarType::Long);
    check_same_device(arg, "arg", grad, "grad");
    check(shape_text(arg) == shape_text(grad), [&] {
      return "arg must have the shape of grad, " + shape_text(grad) + ", got " + shape_text(arg);
    });
  }
  const B backend(grad);
  const Tensor g = as_contiguous(grad), winners = as_contiguous(arg);
  const Tensor dsrc = new_tensor(grad, shape_with_rows(grad, num_rows), grad.scalar_type());
  dispatch_dtype(dtype, [&]<class T>(Type<T>) {
    backend.reduce_backward(segments.view<T>(), reduce, data<T>(g), data<int64_t>(winners),
                            mutable_data<T>(dsrc));
  });
  return dsrc;
}

template <class B>
std::tuple<Tensor, Tensor> aggregate(const Tensor& indptr, const Tensor& indices,
                                     std::optional<Tensor> edge_ids, std::optional<Tensor> tasks,
                                     std::optional<Tensor> splits, const Tensor& x,
                                     std::optional<Tensor> edge_weight, std::string reduce_name) {
  const DType dtype = dtype_of(x, "x");
  const Reduce reduce = reduce_of(reduce_name, 3);
  check_features(x, "x");
  const CsrArgument graph = graph_argument(indptr, indices, edge_ids, x.size(0));
  check_same_device(indptr, "indptr", x, "x");
  const int64_t rows = graph.view.num_rows, heads = x.size(1), dim = x.size(2);
  if (edge_weight) {
    check_like(*edge_weight, "edge_weight", x, "x");
    check_edge_operand(*edge_weight, "edge_weight", graph.view.num_edges, heads, true);
  }
  const B backend(x);
  const ScheduleArgument schedule = B::schedule(tasks, splits, x, "tasks", "splits");
  const int64_t wide = padded_dim(dim, x.scalar_type(), B::kRowBytes);
  const Tensor in = aligned_rows(x, wide, B::kRowBytes);
  const std::optional<Tensor> weight = as_contiguous(edge_weight);
  const Tensor out = new_tensor(x, {rows, heads, wide}, x.scalar_type());
  const Tensor arg = reduce == Reduce::kMax ? new_tensor(x, {rows, heads, wide}, ScalarType::Long)
                                            : no_tensor(x, ScalarType::Long);
  dispatch_dtype(dtype, [&]<class T>(Type<T>) {
    const Tensor partial = new_tensor(
        x, {aggregate_partial_size<T>(schedule.view, heads * wide, reduce)}, kAccType<T>);
    Aggregate<T> p;
    p.graph = graph.view;
    p.schedule = schedule.view;
    p.heads = heads;
    p.dim = wide;
    p.reduce = reduce;
    p.x = data<T>(in);
    p.weight = data<T>(weight);
    p.weight_heads = weight ? weight->size(1) : 1;
    p.out = mutable_data<T>(out);
    p.arg = mutable_data<int64_t>(arg);
    p.partial = mutable_data<Acc<T>>(partial);
    backend.aggregate(p);
  });
  return {without_padding(out, dim), reduce == Reduce::kMax ? without_padding(arg, dim) : arg};
}

template <class B>
std::tuple<Tensor, Tensor> aggregate_max_backward(
    const Tensor& t_indptr, const Tensor& t_indices, const Tensor& t_edge_ids,
    std::optional<Tensor> t_tasks, std::optional<Tensor> t_splits, const Tensor& grad,
    const Tensor& arg, const Tensor& x, std::optional<Tensor> edge_weight, bool need_weight) {
  const DType dtype = dtype_of(x, "x");
  check_features(x, "x");
  check_features(grad, "grad");
  check_like(grad, "grad", x, "x");
  const int64_t heads = x.size(1), dim = x.size(2);
  check_shape(grad, "grad", {grad.size(0), heads, dim}, "heads and dim of x");
  check_dtype(arg, "arg", ScalarType::Long);
  check_same_device(arg, "arg", x, "x");
  check_shape(arg, "arg", {grad.size(0), heads, dim}, "the shape of grad");
  const CsrArgument graph =
      graph_argument(t_indptr, t_indices, t_edge_ids, grad.size(0), kTransposeNames);
  check_same_device(t_indptr, "t_indptr", x, "x");
  check_size(x, "x", 0, graph.view.num_rows);
  check(!need_weight || edge_weight, [] { return "need_weight asks for edge_weight, got none"; });
  if (edge_weight) {
    check_like(*edge_weight, "edge_weight", x, "x");
    check_edge_operand(*edge_weight, "edge_weight", graph.view.num_edges, heads, true);
  }
  const B backend(x);
  const ScheduleArgument schedule = B::schedule(t_tasks, t_splits, x, "t_tasks", "t_splits");
  const int64_t wide = padded_dim(dim, x.scalar_type(), B::kRowBytes);
  const Tensor in = aligned_rows(x, wide, B::kRowBytes);
  const Tensor g = aligned_rows(grad, wide, B::kRowBytes);
  const Tensor winners = aligned_rows(arg, wide, B::kRowBytes);  // the padding's gradient is 0
  const std::optional<Tensor> weight = as_contiguous(edge_weight);
  const Tensor dx = new_tensor(x, {x.size(0), heads, wide}, x.scalar_type());
  const Tensor dweight =
      need_weight ? new_zeros(x, {edge_weight->size(0), heads}) : no_tensor(x, x.scalar_type());
  dispatch_dtype(dtype, [&]<class T>(Type<T>) {
    const Tensor partial = new_tensor(
        x, {aggregate_partial_size<T>(schedule.view, heads * wide, Reduce::kSum)}, kAccType<T>);
    AggregateMaxBackward<T> p;
    p.graph = graph.view;
    p.schedule = schedule.view;
    p.heads = heads;
    p.dim = wide;
    p.x = data<T>(in);
    p.grad = data<T>(g);
    p.arg = data<int64_t>(winners);
    p.weight = data<T>(weight);
    p.weight_heads = weight ? weight->size(1) : 1;
    p.dx = mutable_data<T>(dx);
    p.dweight = need_weight ? mutable_data<T>(dweight) : nullptr;
    p.partial = mutable_data<Acc<T>>(partial);
    backend.aggregate_max_backward(p);
  });
  return {without_padding(dx, dim), need_weight ? sum_heads(dweight, weight->size(1)) : dweight};
}

}  // namespace sage::ops
