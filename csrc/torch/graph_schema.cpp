// Schemas of the graph op group.
#include <torch/csrc/stable/library.h>

STABLE_TORCH_LIBRARY_FRAGMENT(sage, m) {
  m.def(
      "csr_from_coo(Tensor dst, Tensor src, SymInt num_dst, SymInt num_src) -> (Tensor indptr, "
      "Tensor indices, Tensor edge_ids, Tensor num_invalid)");
  m.def(
      "csr_transpose(Tensor indptr, Tensor indices, SymInt num_src) -> (Tensor t_indptr, "
      "Tensor t_indices, Tensor perm, Tensor position)");
  m.def(
      "csr_self_loops(Tensor indptr, Tensor indices, Tensor? edge_ids, SymInt num_src, "
      "SymInt num_ids) -> (Tensor indptr, Tensor indices, Tensor edge_ids)");
  m.def("csr_schedule(Tensor indptr, SymInt num_edges) -> (Tensor tasks, Tensor splits)");
  m.def("csr_validate(Tensor indptr, Tensor indices, SymInt num_src) -> Tensor");
}
