// Tests of CSR building on the GPU: the arrays of the CPU, each time.
#include "tests/sampling/graph/device_arrays.cuh"

namespace sage::graph_tests {
namespace {

using CooToCsrCuda = GraphCuda;

struct Built {
  Ids indptr, indices, edge_ids, num_invalid;

  bool operator==(const Built&) const = default;
};

Built build_cpu(const Coo& coo, int32_t in_bytes, int32_t width, int32_t id_width) {
  const IndexVector src(coo.src, in_bytes), dst(coo.dst, in_bytes);
  Ids indptr(at(coo.num_dst) + 1), num_invalid(1);
  IndexVector indices(coo.num_edges(), width), ids(coo.num_edges(), id_width);
  coo_to_csr_cpu({dst.span(), src.span(), coo.num_edges(), coo.num_dst, coo.num_src, indptr.data(),
                  indices.to_write(), ids.to_write(), num_invalid.data()},
                 {});
  return {indptr, indices.values(), ids.values(), num_invalid};
}

Built build_cuda(const Coo& coo, int32_t in_bytes, int32_t width, int32_t id_width) {
  const SideStream stream;
  const DeviceIndex src(coo.src, in_bytes), dst(coo.dst, in_bytes);
  const DeviceIndex indptr(coo.num_dst + 1, 8), num_invalid(1, 8);
  const DeviceIndex indices(coo.num_edges(), width), ids(coo.num_edges(), id_width);
  const DeviceBytes workspace(coo_to_csr_workspace(coo.num_edges(), coo.num_dst));
  coo_to_csr_cuda({dst.span(), src.span(), coo.num_edges(), coo.num_dst, coo.num_src,
                   indptr.int64s(), indices.to_write(), ids.to_write(), num_invalid.int64s()},
                  workspace.data(), stream);
  stream.wait();
  return {indptr.values(), indices.values(), ids.values(), num_invalid.values()};
}

void expect_same(const Coo& coo, int32_t in_bytes, int32_t width, int32_t id_width) {
  const Built got = build_cuda(coo, in_bytes, width, id_width);
  const Built expected = build_cpu(coo, in_bytes, width, id_width);
  EXPECT_EQ(got.indptr, expected.indptr);
  EXPECT_EQ(got.indices, expected.indices);
  EXPECT_EQ(got.edge_ids, expected.edge_ids);
  EXPECT_EQ(got.num_invalid, expected.num_invalid);
  EXPECT_TRUE(got == build_cuda(coo, in_bytes, width, id_width));
}

TEST_F(CooToCsrCuda, MatchesTheCpu) {
  for (const Coo& coo : coo_zoo()) {
    SCOPED_TRACE(coo.name);
    const int32_t width = index_bytes(coo.num_src);
    expect_same(coo, 8, width, 4);
    expect_same(coo, 8, 8, 8);
    if (coo.fits_int32()) expect_same(coo, 4, width, 4);
  }
}

TEST_F(CooToCsrCuda, LargeGraph) {
  expect_same(random_coo("", 3000000, 100000, 200000, 4, 10), 8, 4, 4);
}

}  // namespace
}  // namespace sage::graph_tests
