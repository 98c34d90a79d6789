// Tests of self loops on the GPU: the arrays of the CPU, each time.
#include "tests/sampling/graph/device_arrays.cuh"

namespace sage::graph_tests {
namespace {

using SelfLoopsCuda = GraphCuda;

struct Looped {
  Ids indptr, indices, edge_ids;

  bool operator==(const Looped&) const = default;
};

int64_t edges_of(const Csr& csr) { return csr.num_edges() + std::min(csr.num_dst(), csr.num_src); }

Looped loops_cpu(const Csr& csr, bool with_ids, int32_t bytes) {
  const HostCsr host(csr, bytes, bytes);
  Ids indptr(csr.indptr.size());
  IndexVector indices(edges_of(csr), bytes), ids(edges_of(csr), bytes);
  csr_self_loops_cpu(
      {host.view(with_ids), csr.num_edges() + 3, indptr.data(), indices.to_write(), ids.to_write()},
      {});
  return {indptr, indices.values(), ids.values()};
}

Looped loops_cuda(const Csr& csr, bool with_ids, int32_t bytes) {
  const SideStream stream;
  const DeviceCsr device(csr, bytes, bytes);
  const DeviceIndex indptr(size(csr.indptr), 8), indices(edges_of(csr), bytes),
      ids(edges_of(csr), bytes);
  const DeviceBytes workspace(csr_self_loops_workspace(csr.num_edges(), csr.num_dst()));
  csr_self_loops_cuda({device.view(with_ids), csr.num_edges() + 3, indptr.int64s(),
                       indices.to_write(), ids.to_write()},
                      workspace.data(), stream);
  stream.wait();
  return {indptr.values(), indices.values(), ids.values()};
}

void expect_same(const Csr& csr, bool with_ids, int32_t bytes) {
  const Looped got = loops_cuda(csr, with_ids, bytes), expected = loops_cpu(csr, with_ids, bytes);
  EXPECT_EQ(got.indptr, expected.indptr);
  EXPECT_EQ(got.indices, expected.indices);
  EXPECT_EQ(got.edge_ids, expected.edge_ids);
  EXPECT_TRUE(got == loops_cuda(csr, with_ids, bytes));
}

TEST_F(SelfLoopsCuda, MatchesTheCpu) {
  for (const Coo& coo : coo_zoo()) {
    SCOPED_TRACE(coo.name);
    const Csr csr = csr_of(coo);
    expect_same(csr, true, 8);
    expect_same(csr, false, 8);
    if (index_bytes(coo.num_src) == 4) expect_same(csr, true, 4);
  }
}

TEST_F(SelfLoopsCuda, SurvivesAnIndptrOfAnyContent) {
  const int64_t far = int64_t{1} << 60;
  for (const Ids& indptr : {Ids{0, 5, 2}, Ids{-7, far, -far}, Ids{far, far, far}, Ids{3, 2, 4}}) {
    loops_cuda({indptr, {1, 0, 1, -7}, {0, 1, 2, 3}, 2}, true, 4);
  }
}

}  // namespace
}  // namespace sage::graph_tests
