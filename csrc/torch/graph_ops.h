// The graph ops, once for all devices. A backend B (graph_cpu.cpp, graph_cuda.cpp) brings the
// builders; what is here checks, allocates and fills in.
#pragma once

#include <algorithm>
#include <optional>
#include <tuple>

#include "csrc/torch/tensor_utils.h"
#include "sampling/graph/csr_build.h"
#include "sampling/graph/schedule.h"

namespace sage::ops {

inline MutableIndexSpan mutable_index_span(const Tensor& t) {
  return {t.mutable_data_ptr(), index_bytes(t)};
}

template <class B>
std::tuple<Tensor, Tensor, Tensor, Tensor> csr_from_coo(const Tensor& dst, const Tensor& src,
                                                        int64_t num_dst, int64_t num_src) {
  check_index(dst, "dst");
  check_index(src, "src");
  check_size(src, "src", 0, dst.size(0));
  check_same_device(src, "src", dst, "dst");
  check_count(num_dst, "num_dst");
  check_count(num_src, "num_src");
  B backend(dst);
  const int64_t num_edges = dst.size(0);
  const Tensor dst_row = as_contiguous(dst), src_row = as_contiguous(src);
  const Tensor indptr = new_tensor(dst, {checked_add(num_dst, 1, "num_dst")}, ScalarType::Long);
  const Tensor indices = new_tensor(dst, {num_edges}, index_type(num_src));
  const Tensor edge_ids = new_tensor(dst, {num_edges}, index_type(num_edges));
  const Tensor num_invalid = new_tensor(dst, {1}, ScalarType::Long);
  CooToCsr p;
  p.dst = index_span(dst_row);
  p.src = index_span(src_row);
  p.num_edges = num_edges;
  p.num_dst = num_dst;
  p.num_src = num_src;
  p.indptr = mutable_data<int64_t>(indptr);
  p.indices = mutable_index_span(indices);
  p.edge_ids = mutable_index_span(edge_ids);
  p.num_invalid = mutable_data<int64_t>(num_invalid);
  backend.from_coo(p);
  return {indptr, indices, edge_ids, num_invalid};
}

template <class B>
std::tuple<Tensor, Tensor, Tensor, Tensor> csr_transpose(const Tensor& indptr,
                                                         const Tensor& indices, int64_t num_src) {
  check_count(num_src, "num_src");
  const CsrArgument graph = csr_argument(indptr, indices, std::nullopt, num_src);
  B backend(indptr);
  const int64_t num_edges = graph.view.num_edges;
  const ScalarType position_type = index_type(num_edges);
  const Tensor t_indptr =
      new_tensor(indptr, {checked_add(num_src, 1, "num_src")}, ScalarType::Long);
  const Tensor t_indices = new_tensor(indptr, {num_edges}, index_type(graph.view.num_rows));
  const Tensor perm = new_tensor(indptr, {num_edges}, position_type);
  const Tensor position = new_tensor(indptr, {num_edges}, position_type);
  CsrTranspose p;
  p.graph = graph.view;
  p.indptr = mutable_data<int64_t>(t_indptr);
  p.indices = mutable_index_span(t_indices);
  p.perm = mutable_index_span(perm);
  p.position = mutable_index_span(position);
  backend.transpose(p);
  return {t_indptr, t_indices, perm, position};
}

template <class B>
std::tuple<Tensor, Tensor, Tensor> csr_self_loops(const Tensor& indptr, const Tensor& indices,
                                                  const std::optional<Tensor>& edge_ids,
                                                  int64_t num_src, int64_t num_ids) {
  check_count(num_src, "num_src");
  check_count(num_ids, "num_ids");
  const CsrArgument graph = csr_argument(indptr, indices, edge_ids, num_src);
  B backend(indptr);
  const int64_t loops = std::min(graph.view.num_rows, num_src);
  const int64_t num_edges = graph.view.num_edges + loops;
  const Tensor new_indptr = new_tensor(indptr, {graph.view.num_rows + 1}, ScalarType::Long);
  const Tensor new_indices = new_tensor(indptr, {num_edges}, indices.scalar_type());
  const Tensor new_ids =
      new_tensor(indptr, {num_edges}, index_type(checked_add(num_ids, loops, "num_ids")));
  CsrSelfLoops p;
  p.graph = graph.view;
  p.num_ids = num_ids;
  p.indptr = mutable_data<int64_t>(new_indptr);
  p.indices = mutable_index_span(new_indices);
  p.edge_ids = mutable_index_span(new_ids);
  backend.self_loops(p);
  return {new_indptr, new_indices, new_ids};
}

template <class B>
std::tuple<Tensor, Tensor> csr_schedule(const Tensor& indptr, int64_t num_edges) {
  const int64_t num_rows = check_indptr(indptr);
  check_count(num_edges, "num_edges");
  check_schedule_size(num_rows, num_edges);
  B backend(indptr);
  const Tensor starts = as_contiguous(indptr);
  const Tensor tasks =
      new_tensor(indptr, {schedule_num_tasks(num_rows, num_edges), 2}, ScalarType::Long);
  const Tensor splits =
      new_tensor(indptr, {schedule_num_splits(num_rows, num_edges), 2}, ScalarType::Long);
  backend.schedule(data<int64_t>(starts), num_rows, num_edges, mutable_data<int64_t>(tasks),
                   mutable_data<int64_t>(splits));
  return {tasks, splits};
}

template <class B>
Tensor csr_validate(const Tensor& indptr, const Tensor& indices, int64_t num_src) {
  check_count(num_src, "num_src");
  const CsrArgument graph = csr_argument(indptr, indices, std::nullopt, num_src);
  B backend(indptr);
  static_assert(sizeof(CsrFaults) == 2 * sizeof(int64_t));
  const Tensor faults = new_tensor(indptr, {2}, ScalarType::Long);
  backend.validate(graph.view, mutable_data<CsrFaults>(faults));
  return faults;
}

}  // namespace sage::ops
