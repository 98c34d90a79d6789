// Lists of edges and CSR graphs that the graph builders' tests share, and arrays of either width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/core/check.h"
#include "sampling/graph/csr_build.h"

namespace sage::graph_tests {

using Ids = std::vector<int64_t>;

inline int64_t size(const Ids& v) { return static_cast<int64_t>(v.size()); }
inline size_t at(int64_t i) { return static_cast<size_t>(i); }

// An array of int32 or int64 on the host.
class IndexVector {
 public:
  IndexVector(const Ids& values, int32_t bytes) : bytes_(bytes), size_(size(values)) {
    if (bytes == 8) {
      wide_ = values;
    } else {
      for (int64_t v : values) narrow_.push_back(static_cast<int32_t>(v));
    }
  }
  // Filled with what no builder writes.
  IndexVector(int64_t count, int32_t bytes) : IndexVector(Ids(at(count), -77), bytes) {}

  int32_t bytes() const { return bytes_; }
  const void* data() const {
    return bytes_ == 8 ? static_cast<const void*>(wide_.data()) : narrow_.data();
  }
  IndexSpan span() const { return {data(), bytes_}; }
  MutableIndexSpan to_write() { return {const_cast<void*>(data()), bytes_}; }
  Ids values() const { return bytes_ == 8 ? wide_ : Ids(narrow_.begin(), narrow_.end()); }
  size_t total_bytes() const { return at(size_ * bytes_); }

 private:
  int32_t bytes_;
  int64_t size_;
  std::vector<int32_t> narrow_;
  Ids wide_;
};

inline int32_t index_bytes(int64_t bound) {
  return bound <= std::numeric_limits<int32_t>::max() ? 4 : 8;
}

struct Coo {
  std::string name;
  Ids src, dst;
  int64_t num_src = 0, num_dst = 0;

  int64_t num_edges() const { return size(src); }
  bool fits_int32() const {
    const auto fits = [](int64_t v) { return v == static_cast<int32_t>(v); };
    return std::all_of(src.begin(), src.end(), fits) && std::all_of(dst.begin(), dst.end(), fits);
  }
};

// Uniform ids in [low, low + nodes).
inline Coo random_coo(const std::string& name, int64_t edges, int64_t num_src, int64_t num_dst,
                      uint64_t seed = 1, int64_t outside = 0) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> src(-outside, num_src - 1 + outside);
  std::uniform_int_distribution<int64_t> dst(-outside, num_dst - 1 + outside);
  Coo coo{name, Ids(at(edges)), Ids(at(edges)), num_src, num_dst};
  for (int64_t& id : coo.src) id = src(random);
  for (int64_t& id : coo.dst) id = dst(random);
  return coo;
}

// Rows of the given degrees, edges in shuffled order.
inline Coo coo_of_degrees(const std::string& name, const Ids& degrees, int64_t num_src) {
  Coo coo{name, {}, {}, num_src, size(degrees)};
  for (int64_t row = 0; row < size(degrees); ++row)
    coo.dst.insert(coo.dst.end(), at(degrees[at(row)]), row);
  std::mt19937_64 random(3);
  std::shuffle(coo.dst.begin(), coo.dst.end(), random);
  std::uniform_int_distribution<int64_t> src(0, std::max<int64_t>(num_src, 1) - 1);
  coo.src.resize(coo.dst.size());
  for (int64_t& id : coo.src) id = src(random);
  return coo;
}

inline std::vector<Coo> coo_zoo() {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return {
      {"empty", {}, {}, 0, 0},
      {"no edges", {}, {}, 3, 4},
      {"no sources", {}, {}, 0, 4},
      {"no destinations, an edge outside", {0}, {0}, 2, 0},
      {"no sources, an edge outside", {0}, {0}, 0, 2},
      {"one edge", {0}, {0}, 1, 1},
      {"isolated rows, the last empty", {2, 0, 1, 2}, {1, 3, 1, 1}, 4, 6},
      {"self loops and duplicates", {0, 1, 1, 1, 2, 1, 0}, {0, 1, 1, 0, 2, 1, 0}, 3, 3},
      {"out of range", {0, -1, 5, 1, kMost, 2, 0, -kMost - 1}, {0, 1, 2, -3, 1, 7, 2, 0}, 3, 3},
      {"all out of range", {9, 9, 9}, {0, 1, 2}, 3, 3},
      {"sources beyond int32",
       {int64_t{1} << 40, 5, (int64_t{1} << 31) + 1},
       {1, 0, 1},
       (int64_t{1} << 40) + 1,
       2},
      coo_of_degrees("around a warp", {31, 32, 33, 0, 1}, 40),
      coo_of_degrees("around a block", {1023, 1024, 1025, 0}, 50),
      coo_of_degrees("one hub", {1, 20000, 2, 0}, 100),
      random_coo("random", 70001, 513, 1000),
      random_coo("random, some outside", 40000, 1000, 300, 2, 20),
      random_coo("more rows than edges", 500, 90000, 70000),
      random_coo("several ranges a thread", 300000, 77, 20011, 5, 1),
  };
}

// A CSR graph of int64 arrays; what lies behind indptr.back() belongs to no row.
struct Csr {
  Ids indptr{0}, indices, edge_ids;
  int64_t num_src = 0;

  int64_t num_dst() const { return size(indptr) - 1; }
  int64_t num_edges() const { return size(indices); }
  bool owned(int64_t e) const { return e < indptr.back(); }
  // The row of an owned position.
  int64_t row(int64_t e) const {
    return std::upper_bound(indptr.begin(), indptr.end(), e) - indptr.begin() - 1;
  }
};

// indptr of `keys`, which must be in [0, num_rows); other keys are counted nowhere.
inline Ids row_starts(const Ids& keys, int64_t num_rows) {
  Ids starts(at(num_rows) + 1, 0);
  for (int64_t k : keys) {
    if (k >= 0 && k < num_rows) ++starts[at(k) + 1];
  }
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

// 0 .. keys.size()-1, stably sorted by key.
inline Ids stable_order(const Ids& keys) {
  Ids order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return keys[at(a)] < keys[at(b)]; });
  return order;
}

// What coo_to_csr must make, by std::stable_sort. Behind the rows, indices are the caller's, cut to
// their type as a cast does.
inline Csr csr_of(const Coo& coo) {
  Ids keys(coo.src.size());
  for (int64_t e = 0; e < coo.num_edges(); ++e) {
    const int64_t s = coo.src[at(e)], d = coo.dst[at(e)];
    const bool valid = s >= 0 && s < coo.num_src && d >= 0 && d < coo.num_dst;
    keys[at(e)] = valid ? d : coo.num_dst;
  }
  Csr csr{row_starts(keys, coo.num_dst), {}, stable_order(keys), coo.num_src};
  for (int64_t e : csr.edge_ids) csr.indices.push_back(coo.src[at(e)]);
  csr.indices = IndexVector(csr.indices, index_bytes(coo.num_src)).values();
  return csr;
}

// A CSR graph on the host with a view.
struct HostCsr {
  Ids indptr;
  IndexVector indices, edge_ids;
  int64_t num_src;

  explicit HostCsr(const Csr& csr)
      : HostCsr(csr, index_bytes(csr.num_src), index_bytes(csr.num_edges())) {}
  HostCsr(const Csr& csr, int32_t bytes, int32_t id_bytes)
      : indptr(csr.indptr),
        indices(csr.indices, bytes),
        edge_ids(csr.edge_ids, id_bytes),
        num_src(csr.num_src) {}
  CsrView view(bool with_ids = true) const {
    return {indptr.data(),    indices.span(), with_ids ? edge_ids.span() : IndexSpan{},
            size(indptr) - 1, num_src,        size(indices.values())};
  }
};

}  // namespace sage::graph_tests
