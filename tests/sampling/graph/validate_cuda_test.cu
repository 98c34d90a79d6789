// Tests of the CSR checks on the GPU.
#include "tests/sampling/graph/device_arrays.cuh"
#include "tests/sampling/graph/fault_cases.h"

namespace sage::graph_tests {
namespace {

using ValidateCuda = GraphCuda;

TEST_F(ValidateCuda, FindsTheFirstFault) {
  for (const FaultCase& c : fault_cases()) {
    SCOPED_TRACE(c.name);
    const SideStream stream;
    const DeviceCsr device(c.csr, 8, 8);
    const DeviceIndex faults(2, 8);
    csr_validate_cuda(device.view(), reinterpret_cast<CsrFaults*>(faults.int64s()), stream);
    stream.wait();
    EXPECT_EQ(faults.values(), (Ids{c.first_bad_row, c.first_bad_edge}));
  }
}

}  // namespace
}  // namespace sage::graph_tests
