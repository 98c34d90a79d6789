// CSR graphs with and without faults, for the tests of the checks.
#pragma once

#include "tests/sampling/graph/graph_cases.h"

namespace sage::graph_tests {

struct FaultCase {
  std::string name;
  Csr csr;
  int64_t first_bad_row = -1, first_bad_edge = -1;
};

inline std::vector<FaultCase> fault_cases() {
  const int64_t far = int64_t{1} << 60;
  const auto csr = [](const Ids& indptr, const Ids& indices, int64_t num_src) {
    return Csr{indptr, indices, indices, num_src};
  };
  std::vector<FaultCase> cases = {
      {"no rows", csr({0}, {}, 0)},
      {"no rows, a tail", csr({0}, {8, 8}, 0)},
      {"no rows, but edges", csr({2}, {0, 0}, 1), 0},
      {"good", csr({0, 2, 2, 3}, {0, 1, 1}, 2)},
      {"no edges", csr({0, 0, 0}, {}, 0)},
      {"a tail of any content", csr({0, 1}, {0, -9, far}, 1)},
      {"does not begin with 0", csr({1, 2}, {0, 0}, 1), 0},
      {"falls", csr({0, 2, 1, 3}, {0, 0, 0}, 1), 1},
      {"negative", csr({0, 1, -5, 3}, {0, 0, 0}, 1), 1},
      {"beyond the edges", csr({0, 1, 4}, {0, 0, 0}, 1), 1},
      {"far beyond the edges", csr({0, far, far}, {0, 5}, 1), 0, 1},
      {"all negative", csr({-far, -far}, {7}, 1), 0},
      {"index too large", csr({0, 1, 3}, {0, 2, 3}, 2), -1, 1},
      {"index negative", csr({0, 1, 3}, {0, 0, -1}, 2), -1, 2},
      {"no sources", csr({0, 1}, {0}, 0), -1, 0},
  };
  // Two faults each, far from the ends: the first one counts.
  Csr large = csr_of(random_coo("", 200000, 50, 100000, 9));
  for (int64_t e : {170000, 123456, 199999}) large.indices[at(e)] = 50;
  cases.push_back({"late edges", large, -1, 123456});
  for (int64_t row : {90000, 70001}) large.indptr[at(row)] = -1;
  cases.push_back({"late rows", large, 70000, 123456});
  return cases;
}

}  // namespace sage::graph_tests
