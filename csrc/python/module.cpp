// The Python module _core: what sage_attention offers without torch.
#include <pybind11/pybind11.h>

#include "csrc/python/bindings.h"
#include "kernels/core/check.h"
#include "sampling/graph/host_graph.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "Graphs in memory, without torch.";
  py::register_local_exception_translator([](std::exception_ptr error) {
    try {
      if (error) std::rethrow_exception(error);
    } catch (const sage::IdError& e) {
      py::set_error(PyExc_IndexError, e.what());
    } catch (const sage::Error& e) {
      py::set_error(PyExc_ValueError, e.what());
    }
  });
  sage::python::bind_host_graph(m);
}
