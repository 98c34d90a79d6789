// Tests of the transpose on the GPU: the arrays of the CPU, each time.
#include "tests/sampling/graph/device_arrays.cuh"

namespace sage::graph_tests {
namespace {

using TransposeCuda = GraphCuda;

struct Transposed {
  Ids indptr, indices, perm, position;

  bool operator==(const Transposed&) const = default;
};

Transposed transpose_cpu(const Csr& csr, int32_t bytes, int32_t wide) {
  const HostCsr host(csr, bytes, wide);
  Ids indptr(at(csr.num_src) + 1);
  IndexVector indices(csr.num_edges(), wide), perm(csr.num_edges(), wide),
      position(csr.num_edges(), wide);
  csr_transpose_cpu(
      {host.view(), indptr.data(), indices.to_write(), perm.to_write(), position.to_write()}, {});
  return {indptr, indices.values(), perm.values(), position.values()};
}

Transposed transpose_cuda(const Csr& csr, int32_t bytes, int32_t wide) {
  const SideStream stream;
  const DeviceCsr device(csr, bytes, wide);
  const DeviceIndex indptr(csr.num_src + 1, 8), indices(csr.num_edges(), wide);
  const DeviceIndex perm(csr.num_edges(), wide), position(csr.num_edges(), wide);
  const DeviceBytes workspace(csr_transpose_workspace(csr.num_edges(), csr.num_dst(), csr.num_src));
  csr_transpose_cuda(
      {device.view(), indptr.int64s(), indices.to_write(), perm.to_write(), position.to_write()},
      workspace.data(), stream);
  stream.wait();
  return {indptr.values(), indices.values(), perm.values(), position.values()};
}

void expect_same(const Csr& csr, int32_t bytes, int32_t wide) {
  const Transposed got = transpose_cuda(csr, bytes, wide);
  const Transposed expected = transpose_cpu(csr, bytes, wide);
  EXPECT_EQ(got.indptr, expected.indptr);
  EXPECT_EQ(got.indices, expected.indices);
  EXPECT_EQ(got.perm, expected.perm);
  EXPECT_EQ(got.position, expected.position);
  EXPECT_TRUE(got == transpose_cuda(csr, bytes, wide));
}

TEST_F(TransposeCuda, MatchesTheCpu) {
  for (const Coo& coo : coo_zoo()) {
    if (coo.num_src > 1000000) continue;  // the transpose has as many rows
    SCOPED_TRACE(coo.name);
    const Csr csr = csr_of(coo);
    expect_same(csr, 4, 4);
    expect_same(csr, 8, 8);
  }
}

TEST_F(TransposeCuda, EdgesOfNoRowAndSourcesOutOfRange) {
  expect_same({{0, 3, 4}, {-1, 1, 9, 0, 5}, {0, 1, 2, 3, 4}, 2}, 4, 4);
  expect_same({{0}, {0, 1}, {0, 1}, 2}, 4, 4);
  expect_same({{0, 2}, {0, 1}, {0, 1}, 0}, 8, 8);
}

TEST_F(TransposeCuda, SurvivesAnIndptrOfAnyContent) {
  const int64_t far = int64_t{1} << 60;
  for (const Ids& indptr : {Ids{0, 5, 2}, Ids{-7, far, -far}, Ids{far, far, far}, Ids{3, 2, 4}}) {
    Ids perm = transpose_cuda({indptr, {1, 0, 1, 1}, {0, 1, 2, 3}, 2}, 4, 4).perm;
    std::sort(perm.begin(), perm.end());
    EXPECT_EQ(perm, (Ids{0, 1, 2, 3}));
  }
}

}  // namespace
}  // namespace sage::graph_tests
