// Arguments from Python: index arrays and sizes, checked, with errors that name them.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>

#include "kernels/core/csr.h"

namespace sage::python {

namespace py = pybind11;

// `value` as a C-contiguous array of int32 or int64, without a copy where it is one. Smaller
// integers are widened; a sequence may be empty. TypeError for other types, ValueError for another
// number of dimensions.
py::array index_array(const py::object& value, const char* name, int dimensions);

// An array that index_array() made, or one row of it.
IndexSpan span_of(const py::array& array);
IndexSpan span_of_row(const py::array& array, int64_t row);

// A number >= 0, or nothing for None. TypeError where it is no integer, ValueError where it is
// negative or too large.
std::optional<int64_t> size_argument(const py::object& value, const char* name);

}  // namespace sage::python
