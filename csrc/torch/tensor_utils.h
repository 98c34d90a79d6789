// From torch's tensors to the views that kernels take: checks that name the argument, contiguous
// copies where they are needed, and allocation beside an operand.
//
// The views do not own: keep the tensors that they come from alive as long as the view.
#pragma once

#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "kernels/core/check.h"
#include "kernels/core/csr.h"
#include "kernels/core/dtype.h"

namespace sage::ops {

using torch::headeronly::ScalarType;
using torch::stable::Tensor;

// ---- text for messages ----------------------------------------------------------------------

inline std::string to_text(ScalarType type) {
  switch (type) {
    case ScalarType::Float:
      return "float32";
    case ScalarType::Double:
      return "float64";
    case ScalarType::Half:
      return "float16";
    case ScalarType::BFloat16:
      return "bfloat16";
    case ScalarType::Char:
      return "int8";
    case ScalarType::Short:
      return "int16";
    case ScalarType::Int:
      return "int32";
    case ScalarType::Long:
      return "int64";
    case ScalarType::Byte:
      return "uint8";
    case ScalarType::Bool:
      return "bool";
    default:
      return torch::headeronly::toString(type);
  }
}

// "[3, 4]"
inline std::string shape_text(const Tensor& t) {
  std::string text = "[";
  for (int64_t i = 0; i < t.dim(); ++i) text += (i ? ", " : "") + std::to_string(t.size(i));
  return text + "]";
}

inline std::string device_text(const Tensor& t) {
  if (t.is_cpu()) return "cpu";
  return (t.is_cuda() ? "cuda:" : "device ") + std::to_string(t.get_device_index());
}

// ---- checks ---------------------------------------------------------------------------------

inline void check_dim(const Tensor& t, const char* name, int64_t dim) {
  check(t.dim() == dim, [&] {
    return std::string(name) + " must have " + std::to_string(dim) + " dimension" +
           (dim == 1 ? "" : "s") + ", got shape " + shape_text(t);
  });
}

inline void check_size(const Tensor& t, const char* name, int64_t dim, int64_t size) {
  check(t.size(dim) == size, [&] {
    return std::string(name) + " must have size " + std::to_string(size) + " in dimension " +
           std::to_string(dim) + ", got shape " + shape_text(t);
  });
}

inline void check_dtype(const Tensor& t, const char* name, ScalarType type) {
  check(t.scalar_type() == type, [&] {
    return std::string(name) + " must be " + to_text(type) + ", got " + to_text(t.scalar_type());
  });
}

// int32 or int64, one dimension.
inline void check_index(const Tensor& t, const char* name) {
  check(t.scalar_type() == ScalarType::Int || t.scalar_type() == ScalarType::Long, [&] {
    return std::string(name) + " must be int32 or int64, got " + to_text(t.scalar_type());
  });
  check_dim(t, name, 1);
}

inline void check_same_device(const Tensor& t, const char* name, const Tensor& other,
                              const char* other_name) {
  check(t.is_cpu() == other.is_cpu() && t.is_cuda() == other.is_cuda() &&
            (t.is_cpu() || t.get_device_index() == other.get_device_index()),
        [&] {
          return std::string(name) + " must be on the device of " + other_name + ", " +
                 device_text(other) + ", got " + device_text(t);
        });
}

inline void check_count(int64_t count, const char* name) {
  check(count >= 0,
        [&] { return std::string(name) + " must not be negative, got " + std::to_string(count); });
}

inline int64_t checked_add(int64_t a, int64_t b, const char* what) {
  check(a <= std::numeric_limits<int64_t>::max() - b, [&] {
    return std::string(what) + " does not fit into int64: " + std::to_string(a) + " + " +
           std::to_string(b);
  });
  return a + b;
}

// indptr of a CSR: int64 [rows + 1]. Returns rows.
inline int64_t check_indptr(const Tensor& t, const char* name = "indptr") {
  check_dtype(t, name, ScalarType::Long);
  check_dim(t, name, 1);
  check(t.size(0) >= 1,
        [&] { return std::string(name) + " must have one element more than rows, got shape [0]"; });
  return t.size(0) - 1;
}

// The element type of features, if kernels know it.
inline DType dtype_of(const Tensor& t, const char* name) {
  switch (t.scalar_type()) {
    case ScalarType::Float:
      return DType::kFloat32;
    case ScalarType::Double:
      return DType::kFloat64;
    case ScalarType::BFloat16:
      return DType::kBFloat16;
    default:
      throw Error(std::string(name) + " must be float32, float64 or bfloat16, got " +
                  to_text(t.scalar_type()));
  }
}

// ---- contiguous tensors and allocation --------------------------------------------------------

inline Tensor as_contiguous(const Tensor& t) {
  return t.is_contiguous() ? t : torch::stable::contiguous(t);
}

inline std::optional<Tensor> as_contiguous(const std::optional<Tensor>& t) {
  return t ? std::optional<Tensor>(as_contiguous(*t)) : std::nullopt;
}

// Uninitialised, on the device of `like`.
inline Tensor new_tensor(const Tensor& like, torch::headeronly::IntHeaderOnlyArrayRef shape,
                         ScalarType type) {
  return torch::stable::new_empty(like, shape, type);
}

// Bytes for a kernel's workspace, on the device of `like`; at least one, so that data is not null.
inline Tensor new_workspace(const Tensor& like, size_t bytes) {
  return new_tensor(like, {static_cast<int64_t>(bytes == 0 ? 1 : bytes)}, ScalarType::Byte);
}

template <class T>
const T* data(const Tensor& t) {
  return static_cast<const T*>(t.const_data_ptr());
}
template <class T>
T* mutable_data(const Tensor& t) {
  return static_cast<T*>(t.mutable_data_ptr());
}
template <class T>
const T* data(const std::optional<Tensor>& t) {
  return t ? data<T>(*t) : nullptr;
}

// ---- graphs -----------------------------------------------------------------------------------

// int32 where every value below `bound` fits, else int64.
inline ScalarType index_type(int64_t bound) {
  return bound <= std::numeric_limits<int32_t>::max() ? ScalarType::Int : ScalarType::Long;
}

inline int32_t index_bytes(const Tensor& t) { return t.scalar_type() == ScalarType::Long ? 8 : 4; }

// `t` is a contiguous int32 or int64 tensor. One without elements still gives a span that is not
// null (a null span means: absent).
inline IndexSpan index_span(const Tensor& t) {
  static constexpr int64_t kNothing = 0;
  const void* const p = t.const_data_ptr();
  return {p == nullptr ? &kNothing : p, index_bytes(t)};
}
inline IndexSpan index_span(const std::optional<Tensor>& t) {
  return t ? index_span(*t) : IndexSpan{};
}

// A CSR argument of an op, checked: its contiguous tensors, and the view of them.
struct CsrArgument {
  Tensor indptr, indices;
  std::optional<Tensor> edge_ids;
  CsrView view;
};

// Names of the tensors of a CsrArgument, for messages.
struct CsrNames {
  const char* indptr = "indptr";
  const char* indices = "indices";
  const char* edge_ids = "edge_ids";
};
inline constexpr CsrNames kTransposeNames{"t_indptr", "t_indices", "t_edge_ids"};

inline CsrArgument csr_argument(const Tensor& indptr, const Tensor& indices,
                                const std::optional<Tensor>& edge_ids, int64_t num_cols,
                                const CsrNames& names = {}) {
  const int64_t num_rows = check_indptr(indptr, names.indptr);
  check_index(indices, names.indices);
  check_same_device(indices, names.indices, indptr, names.indptr);
  check_count(num_cols, "number of columns");
  const int64_t num_edges = indices.size(0);
  if (edge_ids) {
    check_index(*edge_ids, names.edge_ids);
    check_same_device(*edge_ids, names.edge_ids, indptr, names.indptr);
    check_size(*edge_ids, names.edge_ids, 0, num_edges);
  }
  CsrArgument a{as_contiguous(indptr), as_contiguous(indices), as_contiguous(edge_ids), {}};
  a.view.indptr = data<int64_t>(a.indptr);
  a.view.indices = index_span(a.indices);
  a.view.edge_ids = index_span(a.edge_ids);
  a.view.num_rows = num_rows;
  a.view.num_cols = num_cols;
  a.view.num_edges = num_edges;
  return a;
}

// A schedule argument of an op, checked; empty where the tensors are absent (CPU ops take none).
struct ScheduleArgument {
  std::optional<Tensor> tasks, splits;
  ScheduleView view;
};

inline ScheduleArgument schedule_argument(const std::optional<Tensor>& tasks,
                                          const std::optional<Tensor>& splits, const Tensor& like,
                                          const char* tasks_name = "tasks",
                                          const char* splits_name = "splits") {
  check(tasks.has_value() == splits.has_value(), [&] {
    return std::string(tasks_name) + " and " + splits_name + " come together: give both or neither";
  });
  if (!tasks) return {};
  for (const auto& [t, name] : {std::pair{*tasks, tasks_name}, {*splits, splits_name}}) {
    check_dtype(t, name, ScalarType::Long);
    check_dim(t, name, 2);
    check_size(t, name, 1, 2);
    check_same_device(t, name, like, "the other operands");
  }
  ScheduleArgument a{as_contiguous(tasks), as_contiguous(splits), {}};
  a.view = {data<int64_t>(a.tasks), data<int64_t>(a.splits), tasks->size(0), splits->size(0)};
  return a;
}

// The same for a CUDA op, which cannot do without.
inline ScheduleArgument required_schedule(const std::optional<Tensor>& tasks,
                                          const std::optional<Tensor>& splits, const Tensor& like,
                                          const char* tasks_name = "tasks",
                                          const char* splits_name = "splits") {
  check(tasks && splits, [&] {
    return std::string(tasks_name) + " and " + splits_name +
           " are needed on CUDA: make them with torch.ops.sage.csr_schedule(indptr, num_edges)";
  });
  return schedule_argument(tasks, splits, like, tasks_name, splits_name);
}

}  // namespace sage::ops
