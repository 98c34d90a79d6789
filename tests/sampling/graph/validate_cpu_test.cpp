// Tests of the CSR checks on the CPU.
#include <gtest/gtest.h>

#include "kernels/core/thread_pool.h"
#include "tests/sampling/graph/fault_cases.h"

namespace sage::graph_tests {
namespace {

TEST(ValidateCpu, FindsTheFirstFault) {
  ThreadPool pool(4);
  for (const FaultCase& c : fault_cases()) {
    SCOPED_TRACE(c.name);
    for (const Executor& executor : {Executor{}, pool.executor()}) {
      CsrFaults faults{-77, -77};
      csr_validate_cpu(HostCsr(c.csr, 8, 8).view(), &faults, executor);
      EXPECT_EQ(faults.first_bad_row, c.first_bad_row);
      EXPECT_EQ(faults.first_bad_edge, c.first_bad_edge);
    }
  }
}

}  // namespace
}  // namespace sage::graph_tests
