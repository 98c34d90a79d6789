// CSR from a list of edges on the CPU: a stable counting sort by destination.
#include "sampling/graph/counting_sort.h"
#include "sampling/graph/csr_build.h"
#include "sampling/graph/index_types.h"

namespace sage {
namespace {

template <class Dst, class Src, class Index, class Id>
void build(const CooToCsr& p, const Executor& executor) {
  const auto* const dst = static_cast<const Dst*>(p.dst.data);
  const auto* const src = static_cast<const Src*>(p.src.data);
  auto* const indices = static_cast<Index*>(p.indices.data);
  auto* const ids = static_cast<Id*>(p.edge_ids.data);
  // The last key collects what belongs to no row, so that indptr[num_dst] is its start.
  counting_sort(
      p.num_edges, p.num_dst + 1, p.indptr, executor,
      [&](int64_t begin, int64_t count, int64_t* keys) {
        for (int64_t j = 0; j < count; ++j) {
          const int64_t d = dst[begin + j], s = src[begin + j];
          keys[j] = in_range(d, p.num_dst) && in_range(s, p.num_src) ? d : p.num_dst;
        }
      },
      [&](int64_t begin, int64_t count, const int64_t* positions) {
        for (int64_t j = 0; j < count; ++j) {
          indices[positions[j]] = static_cast<Index>(src[begin + j]);
          ids[positions[j]] = static_cast<Id>(begin + j);
        }
      });
  *p.num_invalid = p.num_edges - p.indptr[p.num_dst];
}

}  // namespace

void coo_to_csr_cpu(const CooToCsr& p, const Executor& executor) {
  dispatch_index(p.dst.bytes, [&]<class Dst>(Type<Dst>) {
    dispatch_index(p.src.bytes, [&]<class Src>(Type<Src>) {
      dispatch_index(p.indices.bytes, [&]<class Index>(Type<Index>) {
        dispatch_index(p.edge_ids.bytes,
                       [&]<class Id>(Type<Id>) { build<Dst, Src, Index, Id>(p, executor); });
      });
    });
  });
}

}  // namespace sage
