// Rows of features as a device wants them: contiguous, and on CUDA 16-byte aligned with a last
// dimension padded to whole 16-byte vectors. Nothing is copied that is good already.
#pragma once

#include <torch/csrc/stable/ops.h>

#include <cstdint>
#include <vector>

#include "csrc/torch/tensor_utils.h"

namespace sage::ops {

inline int64_t element_bytes(ScalarType type) {
  return type == ScalarType::Double || type == ScalarType::Long ? 8
         : type == ScalarType::BFloat16                         ? 2
                                                                : 4;
}

// `dim` elements of `type`, rounded up to whole units of row_bytes.
inline int64_t padded_dim(int64_t dim, ScalarType type, int64_t row_bytes) {
  const int64_t unit = row_bytes <= element_bytes(type) ? 1 : row_bytes / element_bytes(type);
  return (dim + unit - 1) / unit * unit;
}

// `t` with its last dimension padded by zeros to `dim`.
inline Tensor aligned_rows(const Tensor& t, int64_t dim, int64_t row_bytes) {
  const int64_t missing = dim - t.size(t.dim() - 1);
  if (missing > 0) return as_contiguous(torch::stable::pad(t, {0, missing}));
  const Tensor rows = as_contiguous(t);
  const auto address = reinterpret_cast<uintptr_t>(rows.const_data_ptr());
  return address % static_cast<uintptr_t>(row_bytes) == 0 ? rows : torch::stable::clone(rows);
}

// The first `dim` elements of padded rows.
inline Tensor without_padding(Tensor rows, int64_t dim) {
  const int64_t last = rows.dim() - 1;
  if (rows.size(last) == dim) return rows;
  return torch::stable::contiguous(torch::stable::narrow(rows, last, 0, dim));
}

}  // namespace sage::ops
