// Schemas of the segment op group.
#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY_FRAGMENT(sage, m) {
  m.def("segment_softmax(Tensor src, Tensor indptr) -> Tensor");
  m.def("segment_softmax_backward(Tensor grad, Tensor out, Tensor indptr) -> Tensor");
  m.def("segment_reduce(Tensor src, Tensor indptr, str reduce) -> (Tensor out, Tensor arg)");
  m.def(
      "segment_reduce_backward(Tensor grad, Tensor indptr, Tensor arg, SymInt num_rows, "
      "str reduce) -> Tensor");
  m.def(
      "aggregate(Tensor indptr, Tensor indices, Tensor? edge_ids, Tensor? tasks, Tensor? splits, "
      "Tensor x, Tensor? edge_weight, str reduce) -> (Tensor out, Tensor arg)");
  m.def(
      "aggregate_max_backward(Tensor t_indptr, Tensor t_indices, Tensor t_edge_ids, "
      "Tensor? t_tasks, Tensor? t_splits, Tensor grad, Tensor arg, Tensor x, Tensor? edge_weight, "
      "bool need_weight) -> (Tensor dx, Tensor dweight)");
}
