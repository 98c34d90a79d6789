// Graphs, values and executors for the tests of the CPU kernels.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/csr.h"
#include "kernels/core/dtype.h"
#include "kernels/core/isa.h"
#include "kernels/core/row_plan.h"
#include "kernels/core/thread_pool.h"

namespace sage::cpu_test {

// A CSR graph whose ids are a permutation, with entries behind indptr.back() that must not be read.
struct Graph {
  std::string name;
  int64_t num_cols = 0;
  std::vector<int64_t> indptr{0};
  std::vector<int64_t> indices, edge_ids;  // [num_edges + kTail]
  std::vector<int32_t> narrow_indices, narrow_edge_ids;

  static constexpr int64_t kTail = 3;

  int64_t num_rows() const { return static_cast<int64_t>(indptr.size()) - 1; }
  int64_t num_edges() const { return indptr.back(); }
  int64_t begin(int64_t row) const { return indptr[static_cast<size_t>(row)]; }
  int64_t end(int64_t row) const { return indptr[static_cast<size_t>(row) + 1]; }
  int64_t col(int64_t e) const { return indices[static_cast<size_t>(e)]; }
  int64_t id(int64_t e) const { return edge_ids[static_cast<size_t>(e)]; }

  CsrView view(int32_t index_bytes = 4) const {
    CsrView view{indptr.data(), {}, {}, num_rows(), num_cols, num_edges() + kTail};
    view.indices =
        index_bytes == 8 ? IndexSpan{indices.data(), 8} : IndexSpan{narrow_indices.data(), 4};
    view.edge_ids =
        index_bytes == 8 ? IndexSpan{edge_ids.data(), 8} : IndexSpan{narrow_edge_ids.data(), 4};
    return view;
  }

  void close() {
    for (int64_t i = 0; i < kTail; ++i) indices.push_back(-1000000000), edge_ids.push_back(-1);
    narrow_indices.assign(indices.begin(), indices.end());
    narrow_edge_ids.assign(edge_ids.begin(), edge_ids.end());
  }
};

// Rows of the given degrees, with random columns (so that edges repeat) and random ids.
inline Graph make_graph(std::string name, const std::vector<int64_t>& degrees, int64_t num_cols) {
  std::mt19937_64 random(degrees.size() * 31 + static_cast<uint64_t>(num_cols));
  Graph g;
  g.name = std::move(name), g.num_cols = num_cols;
  for (int64_t degree : degrees) g.indptr.push_back(g.indptr.back() + degree);
  for (int64_t e = 0; e < g.num_edges(); ++e) {
    g.indices.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(num_cols)));
  }
  g.edge_ids.resize(g.indices.size());
  std::iota(g.edge_ids.begin(), g.edge_ids.end(), 0);
  std::shuffle(g.edge_ids.begin(), g.edge_ids.end(), random);
  g.close();
  return g;
}

// Rows are the columns of `g`; entries keep their ids. `position`, where set, receives where each
// edge of `g` went.
inline Graph transpose(const Graph& g, std::vector<int64_t>* position = nullptr) {
  std::vector<std::vector<std::pair<int64_t, int64_t>>> rows(static_cast<size_t>(g.num_cols));
  for (int64_t i = 0; i < g.num_rows(); ++i) {
    for (int64_t e = g.begin(i); e < g.end(i); ++e) {
      rows[static_cast<size_t>(g.col(e))].push_back({i, e});
    }
  }
  Graph t;
  t.name = g.name + ", transposed", t.num_cols = g.num_rows();
  if (position != nullptr) position->resize(static_cast<size_t>(g.num_edges()));
  for (const auto& row : rows) {
    for (const auto& [node, edge] : row) {
      if (position != nullptr) {
        (*position)[static_cast<size_t>(edge)] = static_cast<int64_t>(t.indices.size());
      }
      t.indices.push_back(node), t.edge_ids.push_back(g.id(edge));
    }
    t.indptr.push_back(static_cast<int64_t>(t.indices.size()));
  }
  t.close();
  return t;
}

inline std::vector<Graph> zoo() {
  Graph loops;
  loops.name = "self loops and duplicates", loops.num_cols = 3;
  loops.indices = {0, 0, 0, 1, 2, 2};
  loops.edge_ids = {5, 4, 3, 2, 1, 0};
  loops.indptr = {0, 3, 4, 6};
  loops.close();
  std::vector<int64_t> mixed(300);
  for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = static_cast<int64_t>(i * i % 13);
  std::vector<int64_t> hub = mixed;
  hub[17] = 2 * RowPlan::kWork + 1234;
  return {make_graph("no rows", {}, 1),
          make_graph("no edges", {0, 0, 0, 0}, 2),
          loops,
          make_graph("one row", {5}, 4),
          make_graph("last row empty", {2, 7, 0, 1, 0}, 6),
          make_graph("around a block", {31, 32, 33, 0, 63, 64, 65}, 50),
          make_graph("around a thousand", {1023, 1024, 1025}, 40),
          make_graph("mixed degrees", mixed, 200),
          make_graph("a hub row", hub, 60),
          make_graph("a hub column", std::vector<int64_t>(6000, 1), 1)};
}

template <class T>
std::vector<T> convert(const std::vector<double>& x) {
  std::vector<T> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<T>(static_cast<Acc<T>>(x[i]));
  return y;
}
template <class T>
std::vector<double> widen(const std::vector<T>& x) {
  std::vector<double> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<double>(static_cast<Acc<T>>(x[i]));
  return y;
}

// Uniform in (-1, 1), and exactly representable in T.
template <class T>
std::vector<double> random_values(int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> x(static_cast<size_t>(count));
  for (double& value : x) value = uniform(random);
  return widen(convert<T>(x));
}

// Error allowed relative to 1 + |expected|: sums of thousands of terms, results rounded to T.
template <class T>
constexpr double kTolerance = 5e-5;
template <>
inline constexpr double kTolerance<double> = 1e-12;
template <>
inline constexpr double kTolerance<bfloat16> = 6e-3;

template <class T>
void expect_near(const std::vector<T>& actual, const std::vector<double>& expected,
                 const std::string& what, double tolerance = kTolerance<T>) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    const double x = static_cast<double>(static_cast<Acc<T>>(actual[i])), y = expected[i];
    const bool same = std::isnan(y)   ? std::isnan(x)
                      : std::isinf(y) ? x == y
                                      : std::abs(x - y) <= tolerance * (1 + std::abs(y));
    ASSERT_TRUE(same) << what << " [" << i << "]: " << x << ", expected " << y;
  }
}

// The bits, so that NaN equals itself and 0 differs from -0.
template <class T>
std::vector<unsigned char> bytes(const std::vector<T>& x) {
  const auto* begin = reinterpret_cast<const unsigned char*>(x.data());
  return {begin, begin + x.size() * sizeof(T)};
}

// Runs f(name) under each variant that this machine has.
template <class F>
void for_each_isa(F&& f) {
  const Isa before = current_isa();
  const std::pair<Isa, const char*> all[] = {
      {Isa::baseline, "baseline"}, {Isa::avx2, "avx2"}, {Isa::avx512, "avx512"}};
  for (const auto& [isa, name] : all) {
    if (isa > machine_isa()) break;
    limit_isa(isa);
    f(std::string(name));
  }
  limit_isa(before);
}

}  // namespace sage::cpu_test
