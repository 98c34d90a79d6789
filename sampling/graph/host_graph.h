// A graph in memory that owns its arrays: built, checked, transposed, without torch.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "kernels/core/check.h"
#include "kernels/core/csr.h"
#include "kernels/core/parallel.h"

namespace sage {

// An id that is not in its range.
struct IdError : Error {
  using Error::Error;
};

// Owns an array of int32 or int64, aligned to a cache line. Copies share it: it is written once,
// by who made it.
class IndexArray {
 public:
  IndexArray() = default;
  // Uninitialised; int32 if `bytes` is 4, int64 if it is 8.
  IndexArray(int64_t size, int32_t bytes);

  int64_t size() const { return size_; }
  int32_t bytes() const { return bytes_; }
  void* data() const { return data_.get(); }
  IndexSpan span() const { return {data_.get(), bytes_}; }

 private:
  std::shared_ptr<void> data_;
  int64_t size_ = 0;
  int32_t bytes_ = 4;
};

// CSR by destination, immutable. indptr is int64; indices are int32 when num_src < 2^31, edge_ids
// when num_edges < 2^31, else int64.
class HostGraph {
 public:
  // Edge e goes from src[e] to dst[e]; both have num_edges elements. A size that is missing equals
  // the other; where both are, the graph is square with max(id) + 1 nodes. Throws IdError for an id
  // out of range.
  static HostGraph from_edge_index(IndexSpan src, IndexSpan dst, int64_t num_edges,
                                   std::optional<int64_t> num_src, std::optional<int64_t> num_dst,
                                   const Executor& executor);

  // Copies the arrays. indptr has num_dst + 1 elements; edge_ids may be null: the identity. Throws
  // Error (IdError for an index out of range) for whatever is no graph. Edges behind
  // indptr[num_dst] belong to no row.
  static HostGraph from_csr(IndexSpan indptr, int64_t num_dst, IndexSpan indices, int64_t num_edges,
                            IndexSpan edge_ids, int64_t num_src, const Executor& executor);

  // Rows are sources; edge ids stay.
  HostGraph transpose(const Executor& executor) const;
  // Exactly one self loop for each i < min(num_dst, num_src), with id num_edges + i; existing ones
  // are replaced and lie behind indptr[num_dst].
  HostGraph with_self_loops(const Executor& executor) const;

  int64_t num_dst() const { return indptr_.size() - 1; }
  int64_t num_src() const { return num_src_; }
  int64_t num_edges() const { return indices_.size(); }
  const IndexArray& indptr() const { return indptr_; }
  const IndexArray& indices() const { return indices_; }
  const IndexArray& edge_ids() const { return edge_ids_; }
  CsrView view() const;

  // Same sizes and same arrays.
  bool operator==(const HostGraph& other) const;

 private:
  HostGraph(int64_t num_dst, int64_t num_src, int64_t num_edges);

  IndexArray indptr_, indices_, edge_ids_;
  int64_t num_src_ = 0;
};

}  // namespace sage
