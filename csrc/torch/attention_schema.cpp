// Schemas of the attention op group.
#include <torch/csrc/stable/library.h>

#include <string>

STABLE_TORCH_LIBRARY_FRAGMENT(sage, m) {
  // The transpose (t_*) is only kept for the backward.
  const std::string graph =
      "Tensor indptr, Tensor indices, Tensor? edge_ids, Tensor? tasks, Tensor? splits, "
      "Tensor? t_indptr, Tensor? t_indices, Tensor? t_edge_ids, Tensor? t_position, "
      "Tensor? t_tasks, Tensor? t_splits, ";
  const std::string edge = "Tensor? edge_bias, Tensor? edge_weight, Tensor? seed, ";
  const std::string score = "str score, float param, float dropout";
  m.def(("attention(" + graph + "Tensor q, Tensor k, Tensor v, " + edge + score +
         ") -> (Tensor out, Tensor lse)")
            .c_str());
  m.def(("attention_backward(" + graph +
         "Tensor grad, Tensor q, Tensor k, Tensor v, Tensor out, Tensor lse, " + edge + score +
         ", bool need_bias, bool need_weight) -> "
         "(Tensor dq, Tensor dk, Tensor dv, Tensor dbias, Tensor dweight)")
            .c_str());
  m.def(
      "edge_dot(Tensor indptr, Tensor indices, Tensor? tasks, Tensor? splits, Tensor x, Tensor y) "
      "-> Tensor");
  m.def(
      "gather_ceiling(Tensor indptr, Tensor indices, Tensor tasks, Tensor splits, Tensor k, "
      "Tensor? v) -> Tensor");
}
