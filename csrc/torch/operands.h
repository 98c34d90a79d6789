// Checks of feature operands, and what a kernel's element type means in torch.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "csrc/torch/tensor_utils.h"
#include "kernels/core/dtype.h"

namespace sage::ops {

// The dtype in which sums over T are kept.
template <class T>
constexpr ScalarType kAccType =
    std::is_same_v<Acc<T>, double> ? ScalarType::Double : ScalarType::Float;

inline std::string shape_text(std::initializer_list<int64_t> shape) {
  std::string text = "[";
  for (int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

// `why` tells where the shape comes from: "heads and head_dim of q".
inline void check_shape(const Tensor& t, const char* name, std::initializer_list<int64_t> shape,
                        const char* why) {
  bool same = t.dim() == static_cast<int64_t>(shape.size());
  int64_t i = 0;
  for (int64_t n : shape) same = same && t.size(i++) == n;
  check(same, [&] {
    return std::string(name) + " must be " + shape_text(shape) + " (" + why + "), got " +
           shape_text(t);
  });
}

// Same dtype and device as another operand.
inline void check_like(const Tensor& t, const char* name, const Tensor& other,
                       const char* other_name) {
  check(t.scalar_type() == other.scalar_type(), [&] {
    return std::string(name) + " must be " + to_text(other.scalar_type()) + " like " + other_name +
           ", got " + to_text(t.scalar_type());
  });
  check_same_device(t, name, other, other_name);
}

// A [nodes, heads, dim] operand with at least one head and one element.
inline void check_features(const Tensor& t, const char* name) {
  check(t.dim() == 3,
        [&] { return std::string(name) + " must be [nodes, heads, dim], got " + shape_text(t); });
  check(t.size(1) >= 1 && t.size(2) >= 1, [&] {
    return std::string(name) + " must have at least one head and one element a head, got " +
           shape_text(t);
  });
}

// A [edges, heads] operand in the order of edge ids; ids are distinct, so that there are at least
// as many of them as edges. `one_head`: [edges, 1] will do.
inline void check_edge_operand(const Tensor& t, const char* name, int64_t num_edges, int64_t heads,
                               bool one_head) {
  const bool fits = t.dim() == 2 && t.size(0) >= num_edges &&
                    (t.size(1) == heads || (one_head && t.size(1) == 1));
  check(fits, [&] {
    return std::string(name) + " must be [edges, " + (one_head && heads != 1 ? "1 or " : "") +
           std::to_string(heads) + "] with a row for each of the " + std::to_string(num_edges) +
           " edges, got " + shape_text(t);
  });
}

inline Tensor new_zeros(const Tensor& like, std::initializer_list<int64_t> shape) {
  return torch::stable::new_zeros(like, shape, like.scalar_type());
}

// Stands for an output that was not asked for.
inline Tensor no_tensor(const Tensor& like, ScalarType type) { return new_tensor(like, {0}, type); }

// Per-edge gradients [edges, heads] of an operand that has one column for all heads.
inline Tensor sum_heads(const Tensor& t, int64_t operand_heads) {
  if (t.size(1) == operand_heads) return t;
  const std::vector<int64_t> heads{1};
  return torch::stable::sum(t, heads, true, t.scalar_type());
}

}  // namespace sage::ops
