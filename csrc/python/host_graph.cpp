// HostGraph in Python: numpy arrays in, views of its arrays out.
#include "sampling/graph/host_graph.h"

#include <pybind11/numpy.h>
#include <pybind11/operators.h>

#include <algorithm>
#include <string>
#include <thread>
#include <utility>

#include "csrc/python/arguments.h"
#include "csrc/python/bindings.h"
#include "kernels/core/thread_pool.h"

namespace sage::python {
namespace {

// Runs build(executor) without the GIL (so that it must not touch a Python object), on threads that
// end with it (so that a process may fork later). 0 threads: as many as the machine has and
// `num_edges` are worth.
template <class Build>
auto build_in_parallel(const py::object& num_threads, int64_t num_edges, Build&& build) {
  constexpr int64_t kEdgesPerThread = 262144, kMostThreads = 64;
  int64_t threads = size_argument(num_threads, "num_threads").value_or(0);
  if (threads == 0) {
    threads = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
    threads = std::clamp<int64_t>(num_edges / kEdgesPerThread, 1, threads);
  }
  threads = std::min<int64_t>(threads, 1 << 20);  // more than a pool takes
  const py::gil_scoped_release release;
  ThreadPool pool(static_cast<int32_t>(threads));
  return build(pool.executor());
}

HostGraph from_arrays(const py::array& indptr, const py::array& indices, const py::object& edge_ids,
                      std::optional<int64_t> num_src, bool may_have_tail,
                      const py::object& num_threads) {
  const int64_t num_dst = indptr.shape(0) - 1, num_edges = indices.shape(0);
  if (num_dst < 0) throw py::value_error("indptr must have num_dst + 1 elements, got 0");
  py::array ids;
  if (!edge_ids.is_none()) {
    ids = index_array(edge_ids, "edge_ids", 1);
    if (ids.shape(0) != num_edges) {
      throw py::value_error("edge_ids must have as many elements as indices, " +
                            std::to_string(num_edges) + ", got " + std::to_string(ids.shape(0)));
    }
  }
  const IndexSpan starts = span_of(indptr), sources = span_of(indices);
  const IndexSpan id_span = edge_ids.is_none() ? IndexSpan{} : span_of(ids);
  HostGraph graph = build_in_parallel(num_threads, num_edges, [&](const Executor& executor) {
    return HostGraph::from_csr(starts, num_dst, sources, num_edges, id_span,
                               num_src.value_or(num_dst), executor);
  });
  const int64_t last = graph.view().indptr[num_dst];
  if (last != num_edges && !may_have_tail) {
    throw py::value_error("indptr[-1] = " + std::to_string(last) +
                          " must be the number of edges, but indices has " +
                          std::to_string(num_edges) + " elements; cut indices or correct indptr");
  }
  return graph;
}

HostGraph from_edge_index(const py::object& edge_index, const py::object& num_src,
                          const py::object& num_dst, const py::object& num_threads) {
  const py::array edges = index_array(edge_index, "edge_index", 2);
  if (edges.shape(0) != 2) {
    throw py::value_error("edge_index must have shape (2, E), got (" +
                          std::to_string(edges.shape(0)) + ", " + std::to_string(edges.shape(1)) +
                          ")" + (edges.shape(1) == 2 ? "; transpose it" : ""));
  }
  const std::optional<int64_t> sources = size_argument(num_src, "num_src");
  const std::optional<int64_t> destinations = size_argument(num_dst, "num_dst");
  const IndexSpan src = span_of_row(edges, 0), dst = span_of_row(edges, 1);
  const int64_t num_edges = edges.shape(1);
  return build_in_parallel(num_threads, num_edges, [&](const Executor& executor) {
    return HostGraph::from_edge_index(src, dst, num_edges, sources, destinations, executor);
  });
}

// A numpy view of an array that `owner` has; it keeps the owner alive and cannot be written.
py::array view_of(const IndexArray& array, const py::object& owner) {
  const py::dtype type = array.bytes() == 8 ? py::dtype::of<int64_t>() : py::dtype::of<int32_t>();
  py::array view(type, {array.size()}, {static_cast<int64_t>(array.bytes())}, array.data(), owner);
  view.attr("setflags")(py::arg("write") = false);
  return view;
}

template <const IndexArray& (HostGraph::*kArray)() const>
py::array array_property(const py::object& self) {
  return view_of((self.cast<const HostGraph&>().*kArray)(), self);
}

py::tuple sizes(const HostGraph& g) {
  return py::make_tuple(g.num_dst(), g.num_src(), g.num_edges());
}

std::string representation(const HostGraph& g) {
  return "HostGraph(num_dst=" + std::to_string(g.num_dst()) +
         ", num_src=" + std::to_string(g.num_src()) +
         ", num_edges=" + std::to_string(g.num_edges()) + ")";
}

}  // namespace

void bind_host_graph(py::module_& m) {
  const py::object automatic = py::int_(0);
  py::class_<HostGraph>(m, "HostGraph", R"(A graph in CSR by destination, without torch; immutable.

Row i (a destination) owns edges indptr[i] .. indptr[i + 1] - 1; indices has their sources,
edge_ids their places in the caller's order. The arrays are read-only numpy views without a copy,
so that numpy.from_dlpack and torch.from_dlpack share their memory.

Args:
    indptr: [num_dst + 1] integers, rising from 0 to the number of edges.
    indices: [E] integers, sources in [0, num_src).
    num_src: number of sources; default num_dst (a square graph).
    edge_ids: [E] a permutation of 0 .. E - 1; default the CSR order.
    num_threads: 0 for as many as are worth it.

Raises:
    TypeError: arrays are not integers, or a size is none.
    ValueError: a wrong shape, indptr is not monotone, or a size is negative.
    IndexError: an index is negative or not below num_src.
)")
      .def(py::init([](const py::object& indptr, const py::object& indices,
                       const py::object& num_src, const py::object& edge_ids,
                       const py::object& num_threads) {
             return from_arrays(index_array(indptr, "indptr", 1),
                                index_array(indices, "indices", 1), edge_ids,
                                size_argument(num_src, "num_src"), false, num_threads);
           }),
           py::arg("indptr"), py::arg("indices"), py::kw_only(), py::arg("num_src") = py::none(),
           py::arg("edge_ids") = py::none(), py::arg("num_threads") = automatic)
      .def_static("from_edge_index", &from_edge_index, py::arg("edge_index"), py::kw_only(),
                  py::arg("num_src") = py::none(), py::arg("num_dst") = py::none(),
                  py::arg("num_threads") = automatic,
                  R"(A graph from [2, E] integers: row 0 has sources, row 1 destinations.

A size that is missing equals the other; where both are, the graph is square with max(id) + 1
nodes. Edges of one row keep their order. The GIL is released meanwhile.

Raises:
    TypeError: ids are not integers, or a size is none.
    ValueError: a wrong shape, or a size is negative.
    IndexError: an id is negative or not below its size.
)")
      .def(
          "transpose",
          [](const HostGraph& g, const py::object& num_threads) {
            return build_in_parallel(num_threads, g.num_edges(),
                                     [&](const Executor& e) { return g.transpose(e); });
          },
          py::kw_only(), py::arg("num_threads") = automatic,
          "The graph with edges turned round; edge ids stay.")
      .def(
          "with_self_loops",
          [](const HostGraph& g, const py::object& num_threads) {
            return build_in_parallel(num_threads, g.num_edges(),
                                     [&](const Executor& e) { return g.with_self_loops(e); });
          },
          py::kw_only(), py::arg("num_threads") = automatic,
          R"(The graph with exactly one self loop a node i < min(num_dst, num_src), its id E + i.

Loops that were there are replaced: they lie behind indptr[-1], with their ids.)")
      .def_property_readonly("num_dst", &HostGraph::num_dst, "Number of destinations, the rows.")
      .def_property_readonly("num_src", &HostGraph::num_src, "Number of sources.")
      .def_property_readonly("num_edges", &HostGraph::num_edges, "Length of indices.")
      .def_property_readonly("indptr", &array_property<&HostGraph::indptr>, "[num_dst + 1] int64.")
      .def_property_readonly("indices", &array_property<&HostGraph::indices>,
                             "[E] sources; int32 where num_src < 2^31, else int64.")
      .def_property_readonly("edge_ids", &array_property<&HostGraph::edge_ids>,
                             "[E] places in the caller's order; int32 where E < 2^31, else int64.")
      .def(py::self == py::self)
      .def("__hash__", [](const HostGraph& g) { return py::hash(sizes(g)); })
      .def("__repr__", &representation)
      .def(py::pickle(
          [](const py::object& self) {
            return py::make_tuple(self.attr("indptr"), self.attr("indices"), self.attr("edge_ids"),
                                  self.attr("num_src"));
          },
          [](const py::tuple& state) {
            if (state.size() != 4) {
              throw py::value_error("a pickled HostGraph has 4 parts, got " +
                                    std::to_string(state.size()));
            }
            return from_arrays(index_array(state[0], "indptr", 1),
                               index_array(state[1], "indices", 1), state[2],
                               size_argument(state[3], "num_src"), true, py::int_(0));
          }));
}

}  // namespace sage::python
