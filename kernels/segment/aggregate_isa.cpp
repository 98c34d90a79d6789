// The vectorised inner parts of gather-and-reduce.
#include <cstdint>
#include <type_traits>

#include "kernels/core/edge_tiles.h"
#include "kernels/segment/aggregate_edges.h"

namespace sage {
namespace SAGE_ISA {
namespace {

// Heads that differ in weight: one weight for the whole row makes the row one head.
struct WeightedHeads {
  int64_t count, dim;

  template <class P>
  explicit WeightedHeads(const P& p)
      : count(p.weight == nullptr ? 1 : p.weight_heads), dim(p.heads * p.dim / count) {}
};

// The weights of a transpose's edges lie as scattered as the rows.
template <class T>
inline void prefetch_weights(const Aggregate<T>& p, const EdgeBlock& block, int64_t heads) {
  if (p.weight == nullptr) return;
  const int64_t first = block.begin + kAhead, last = first + block.count;
  for (int64_t e = first; e < (last < p.graph.num_edges ? last : p.graph.num_edges); ++e) {
    prefetch(p.weight + weight_at(p, e) * heads, heads * static_cast<int64_t>(sizeof(T)));
  }
}

}  // namespace
}  // namespace SAGE_ISA

template <Isa kIsa, class T>
ReduceSizes AggregateEdges<kIsa, T>::sum_sizes(const Aggregate<T>& p) {
  return {p.heads * p.dim, SAGE_ISA::WeightedHeads(p).count * SAGE_ISA::kEdgeBlock};
}

template <Isa kIsa, class T>
void AggregateEdges<kIsa, T>::push_sum(const Aggregate<T>& p, int64_t begin, int64_t end, A* sum,
                                       A* scratch) {
  using namespace SAGE_ISA;
  const WeightedHeads heads(p);
  for (int64_t c = 0; c < heads.count * heads.dim; ++c) sum[c] = 0;
  for (int64_t first = begin; first < end; first += kEdgeBlock) {
    const EdgeBlock block(p.graph, first, end);
    prefetch_rows(p.graph, block, p.x, heads.count * heads.dim);
    prefetch_weights(p, block, heads.count);
    const RowOffsets rows(block, heads.count * heads.dim);
    for (int e = 0; p.weight != nullptr && e < block.count; ++e) {
      const T* weight = p.weight + weight_at(p, first + e) * heads.count;
      for (int64_t h = 0; h < heads.count; ++h) {
        scratch[h * kEdgeBlock + e] = static_cast<A>(weight[h]);
      }
    }
    for (int64_t h = 0; h < heads.count; ++h) {
      const A* weight = scratch + h * kEdgeBlock;
      for_tiles<A>(heads.dim, [&](auto width, int64_t c) {
        const int64_t at = h * heads.dim + c;
        if (p.weight == nullptr) {
          accumulate_tile<width>(sum + at, A{1}, p.x + at, rows, block.count,
                                 [](int, int, A x) { return x; });
        } else {
          accumulate_tile<width>(sum + at, A{1}, p.x + at, rows, block.count,
                                 [&](int e, int, A x) { return weight[e] * x; });
        }
      });
    }
  }
}

template <Isa kIsa, class T>
void AggregateEdges<kIsa, T>::push_max(const Aggregate<T>& p, int64_t begin, int64_t end,
                                       Winner<A>* best) {
  using Lane = std::conditional_t<sizeof(A) == 4, int32_t, int64_t>;  // as wide as the value
  const SAGE_ISA::WeightedHeads heads(p);
  for (int64_t h = 0; h < heads.count; ++h) {
    SAGE_ISA::for_tiles<A>(heads.dim, [&](auto width, int64_t c) {
      const int64_t at = h * heads.dim + c;
      A value[width] = {};
      Lane winner[width];
      for (int i = 0; i < width; ++i) winner[i] = -1;
      for (int64_t e = begin; e < end; ++e) {
        const T* row = p.x + p.graph.indices[e] * (heads.count * heads.dim) + at;
        const A weight = p.weight == nullptr
                             ? A{1}
                             : static_cast<A>(p.weight[weight_at(p, e) * heads.count + h]);
#pragma omp simd
        for (int i = 0; i < width; ++i) {
          const A candidate = weight * static_cast<A>(row[i]);
          const bool wins = winner[i] < 0 || beats(candidate, value[i]);
          value[i] = wins ? candidate : value[i];
          winner[i] = wins ? static_cast<Lane>(e - begin) : winner[i];
        }
      }
      for (int i = 0; i < width; ++i) {
        best[at + i] = {value[i], winner[i] < 0 ? -1 : begin + winner[i]};
      }
    });
  }
}

template <Isa kIsa, class T>
void AggregateMaxBackwardEdges<kIsa, T>::push(const AggregateMaxBackward<T>& p, int64_t row,
                                              int64_t begin, int64_t end, A* dx) {
  using namespace SAGE_ISA;
  const int64_t stride = p.heads * p.dim;
  for (int64_t c = 0; c < stride; ++c) dx[c] = 0;
  for (int64_t e = begin; e < end; ++e) {
    const int64_t id = p.graph.edge_id(e);
    for (int64_t h = 0; h < p.heads; ++h) {
      const int64_t weight_head = p.weight_heads == 1 ? 0 : h;
      const A weight =
          p.weight == nullptr ? A{1} : static_cast<A>(p.weight[id * p.weight_heads + weight_head]);
      const int64_t from = p.graph.indices[e] * stride + h * p.dim;
      const T* x = p.x + row * stride + h * p.dim;
      A* sum = dx + h * p.dim;
      A dweight = 0;
      for_tiles<A>(p.dim, [&](auto width, int64_t c) {
        A lanes[width];
#pragma omp simd
        for (int i = 0; i < width; ++i) {
          const A grad = static_cast<A>(p.grad[from + c + i]);
          const A won = p.arg[from + c + i] == id ? grad : A{0};
          sum[c + i] += weight * won;
          lanes[i] = won * static_cast<A>(x[c + i]);
        }
        dweight += fold_lanes<width>(lanes, [](A a, A b) { return a + b; });
      });
      if (p.dweight != nullptr) p.dweight[id * p.heads + h] = static_cast<T>(dweight);
    }
  }
}

template struct AggregateEdges<Isa::SAGE_ISA, float>;
template struct AggregateEdges<Isa::SAGE_ISA, double>;
template struct AggregateEdges<Isa::SAGE_ISA, bfloat16>;
template struct AggregateMaxBackwardEdges<Isa::SAGE_ISA, float>;
template struct AggregateMaxBackwardEdges<Isa::SAGE_ISA, double>;
template struct AggregateMaxBackwardEdges<Isa::SAGE_ISA, bfloat16>;

}  // namespace sage
