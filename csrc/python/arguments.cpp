// Arguments from Python: index arrays and sizes.
#include "csrc/python/arguments.h"

#include <limits>

namespace sage::python {
namespace {

std::string type_name(const py::handle& value) {
  return py::str(py::type::of(value).attr("__name__"));
}

std::string shape_text(const py::array& array) { return py::str(array.attr("shape")); }

}  // namespace

py::array index_array(const py::object& value, const char* name, int dimensions) {
  const py::module_ numpy = py::module_::import("numpy");
  py::array array = numpy.attr("asarray")(value);
  const bool empty_sequence =
      array.size() == 0 && !py::isinstance<py::array>(value) && !py::hasattr(value, "dtype");
  const char kind = array.dtype().kind();
  const bool integer = kind == 'i' || (kind == 'u' && array.itemsize() < 8);
  if (!integer && !empty_sequence) {
    throw py::type_error(std::string(name) + " must be int32 or int64, got " +
                         std::string(py::str(array.dtype())) +
                         "; convert it with .astype(numpy.int64)");
  }
  if (array.ndim() != dimensions) {
    throw py::value_error(std::string(name) + " must have " + std::to_string(dimensions) +
                          (dimensions == 1 ? " dimension" : " dimensions") + ", got shape " +
                          shape_text(array));
  }
  const bool int32 = kind == 'i' && array.itemsize() == 4;
  return numpy.attr("ascontiguousarray")(array, numpy.attr(int32 ? "int32" : "int64"));
}

IndexSpan span_of(const py::array& array) {
  return {array.data(), static_cast<int32_t>(array.itemsize())};
}

IndexSpan span_of_row(const py::array& array, int64_t row) {
  const auto* const bytes = static_cast<const char*>(array.data());
  return {bytes + row * array.shape(1) * array.itemsize(), static_cast<int32_t>(array.itemsize())};
}

std::optional<int64_t> size_argument(const py::object& value, const char* name) {
  if (value.is_none()) return std::nullopt;
  if (PyBool_Check(value.ptr()) || !PyIndex_Check(value.ptr())) {
    throw py::type_error(std::string(name) + " must be an int, got " + type_name(value));
  }
  const auto number = py::reinterpret_steal<py::int_>(PyNumber_Index(value.ptr()));
  if (!number) throw py::error_already_set();
  int overflow = 0;
  const int64_t size = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow > 0 || size == std::numeric_limits<int64_t>::max()) {
    throw py::value_error(std::string(name) + " must be less than 2^63 - 1, got " +
                          std::string(py::str(number)));
  }
  if (overflow < 0 || size < 0) {
    throw py::value_error(std::string(name) + " must not be negative, got " +
                          std::string(py::str(number)));
  }
  return size;
}

}  // namespace sage::python
