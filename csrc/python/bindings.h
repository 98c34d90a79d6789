// What the parts of _core add to the module.
#pragma once

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace sage::python {

void bind_host_graph(py::module_& m);

}  // namespace sage::python
