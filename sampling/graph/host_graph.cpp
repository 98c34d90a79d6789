// A graph in memory that owns its arrays.
#include "sampling/graph/host_graph.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "sampling/graph/csr_build.h"
#include "sampling/graph/index_types.h"

namespace sage {
namespace {

constexpr int64_t kGrain = 65536;

// Of one element, for values below `bound`.
int32_t index_bytes(int64_t bound) { return bound <= std::numeric_limits<int32_t>::max() ? 4 : 8; }

MutableIndexSpan to_write(const IndexArray& array) { return {array.data(), array.bytes()}; }

int64_t* int64_data(const IndexArray& array) { return static_cast<int64_t*>(array.data()); }

void copy(IndexSpan from, const IndexArray& to, const Executor& executor) {
  parallel_for(executor, to.size(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) store_index(to_write(to), i, from[i]);
  });
}

void check_count(int64_t count, const char* name) {
  check(count >= 0 && count < std::numeric_limits<int64_t>::max(), [&] {
    return std::string(name) + " must be a number of nodes >= 0, got " + std::to_string(count);
  });
}

std::string range_fix(int64_t id, const char* size) {
  if (id < 0) return "ids must not be negative";
  return std::string("pass ") + size + "=" + std::to_string(id + 1) + " or more";
}

// Throws for the first id out of range.
void check_ids(IndexSpan ids, int64_t count, int64_t limit, int row, const char* size,
               const Executor& executor) {
  const int64_t e = first_out_of_range_cpu(ids, count, limit, executor);
  if (e < 0) return;
  throw IdError("edge_index[" + std::to_string(row) + ", " + std::to_string(e) +
                "] = " + std::to_string(ids[e]) + " is not in [0, " + size + " = " +
                std::to_string(limit) + "): " + range_fix(ids[e], size));
}

// The largest id + 1, or 0.
int64_t nodes_of(IndexSpan src, IndexSpan dst, int64_t num_edges, const Executor& executor) {
  std::atomic<int64_t> largest{-1};
  parallel_for(executor, num_edges, kGrain, [&](int64_t begin, int64_t end) {
    int64_t here = -1;
    for (int64_t e = begin; e < end; ++e) here = std::max({here, src[e], dst[e]});
    int64_t seen = largest.load();
    while (seen < here && !largest.compare_exchange_weak(seen, here)) {
    }
  });
  check(largest < std::numeric_limits<int64_t>::max() - 1, [&] {
    return "edge_index has an id of " + std::to_string(largest) + ", too large for a node";
  });
  return largest + 1;
}

void check_permutation(IndexSpan ids, int64_t count) {
  std::vector<bool> seen(static_cast<size_t>(count), false);
  for (int64_t e = 0; e < count; ++e) {
    const bool good = in_range(ids[e], count) && !seen[static_cast<size_t>(ids[e])];
    check(good, [&] {
      return "edge_ids must be a permutation of 0 .. " + std::to_string(count - 1) + ": edge_ids[" +
             std::to_string(e) + "] = " + std::to_string(ids[e]) +
             " is out of range or there twice";
    });
    seen[static_cast<size_t>(ids[e])] = true;
  }
}

void check_graph(const CsrView& g, const Executor& executor) {
  check(g.indptr[0] == 0, [&] {
    return "indptr[0] must be 0, got " + std::to_string(g.indptr[0]) + "; subtract it from indptr";
  });
  CsrFaults faults;
  csr_validate_cpu(g, &faults, executor);
  check(faults.first_bad_row < 0, [&] {
    const int64_t row = faults.first_bad_row;
    return "indptr must not decrease and must stay in [0, E = " + std::to_string(g.num_edges) +
           "]: indptr[" + std::to_string(row) + "] = " + std::to_string(g.indptr[row]) +
           ", indptr[" + std::to_string(row + 1) + "] = " + std::to_string(g.indptr[row + 1]) +
           "; use from_edge_index if the edges are not grouped by destination";
  });
  if (faults.first_bad_edge < 0) return;
  const int64_t id = g.indices[faults.first_bad_edge];
  throw IdError("indices[" + std::to_string(faults.first_bad_edge) + "] = " + std::to_string(id) +
                " is not in [0, num_src = " + std::to_string(g.num_cols) +
                "): " + range_fix(id, "num_src"));
}

bool same(const IndexArray& a, const IndexArray& b) {
  if (a.size() != b.size() || a.bytes() != b.bytes()) return false;
  return a.data() == b.data() ||
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size() * a.bytes())) == 0;
}

}  // namespace

IndexArray::IndexArray(int64_t size, int32_t bytes) : size_(size), bytes_(bytes) {
  constexpr std::align_val_t kAlignment{64};
  check(size >= 0 && size <= std::numeric_limits<int64_t>::max() / bytes,
        [&] { return "an array cannot have " + std::to_string(size) + " elements"; });
  void* const data = ::operator new(static_cast<size_t>(size * bytes), kAlignment);
  data_ = std::shared_ptr<void>(data, [](void* p) { ::operator delete(p, kAlignment); });
}

HostGraph::HostGraph(int64_t num_dst, int64_t num_src, int64_t num_edges)
    : indptr_(num_dst + 1, 8),
      indices_(num_edges, index_bytes(num_src)),
      edge_ids_(num_edges, index_bytes(num_edges)),
      num_src_(num_src) {}

HostGraph HostGraph::from_edge_index(IndexSpan src, IndexSpan dst, int64_t num_edges,
                                     std::optional<int64_t> num_src, std::optional<int64_t> num_dst,
                                     const Executor& executor) {
  if (!num_src && !num_dst) num_src = nodes_of(src, dst, num_edges, executor);
  const int64_t sources = num_src ? *num_src : *num_dst;
  const int64_t destinations = num_dst ? *num_dst : *num_src;
  check_count(sources, "num_src");
  check_count(destinations, "num_dst");
  HostGraph graph(destinations, sources, num_edges);
  int64_t num_invalid = 0;
  CooToCsr p;
  p.dst = dst;
  p.src = src;
  p.num_edges = num_edges;
  p.num_dst = destinations;
  p.num_src = sources;
  p.indptr = int64_data(graph.indptr_);
  p.indices = to_write(graph.indices_);
  p.edge_ids = to_write(graph.edge_ids_);
  p.num_invalid = &num_invalid;
  coo_to_csr_cpu(p, executor);
  if (num_invalid > 0) {
    check_ids(src, num_edges, sources, 0, "num_src", executor);
    check_ids(dst, num_edges, destinations, 1, "num_dst", executor);
  }
  return graph;
}

HostGraph HostGraph::from_csr(IndexSpan indptr, int64_t num_dst, IndexSpan indices,
                              int64_t num_edges, IndexSpan edge_ids, int64_t num_src,
                              const Executor& executor) {
  check_count(num_src, "num_src");
  HostGraph graph(num_dst, num_src, num_edges);
  copy(indptr, graph.indptr_, executor);
  const int64_t* const starts = int64_data(graph.indptr_);
  check_graph({starts, indices, {}, num_dst, num_src, num_edges}, executor);
  copy(indices, graph.indices_, executor);
  if (edge_ids) {
    check_permutation(edge_ids, num_edges);
    copy(edge_ids, graph.edge_ids_, executor);
  } else {
    parallel_for(executor, num_edges, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t e = begin; e < end; ++e) store_index(to_write(graph.edge_ids_), e, e);
    });
  }
  return graph;
}

HostGraph HostGraph::transpose(const Executor& executor) const {
  HostGraph result(num_src(), num_dst(), num_edges());
  const IndexArray perm(num_edges(), edge_ids_.bytes()), position(num_edges(), edge_ids_.bytes());
  CsrTranspose p;
  p.graph = view();
  p.indptr = int64_data(result.indptr_);
  p.indices = to_write(result.indices_);
  p.perm = to_write(perm);
  p.position = to_write(position);
  csr_transpose_cpu(p, executor);
  parallel_for(executor, num_edges(), kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) {
      store_index(to_write(result.edge_ids_), e, edge_ids_.span()[perm.span()[e]]);
    }
  });
  return result;
}

HostGraph HostGraph::with_self_loops(const Executor& executor) const {
  HostGraph result(num_dst(), num_src(), num_edges() + std::min(num_dst(), num_src()));
  CsrSelfLoops p;
  p.graph = view();
  p.num_ids = num_edges();
  p.indptr = int64_data(result.indptr_);
  p.indices = to_write(result.indices_);
  p.edge_ids = to_write(result.edge_ids_);
  csr_self_loops_cpu(p, executor);
  return result;
}

CsrView HostGraph::view() const {
  return {int64_data(indptr_), indices_.span(), edge_ids_.span(),
          num_dst(),           num_src(),       num_edges()};
}

bool HostGraph::operator==(const HostGraph& other) const {
  return num_src_ == other.num_src_ && same(indptr_, other.indptr_) &&
         same(indices_, other.indices_) && same(edge_ids_, other.edge_ids_);
}

}  // namespace sage
