// The vectorised inner parts of gather-and-reduce on the CPU, one variant for each instruction set:
// defined in aggregate_isa.cpp.
#pragma once

#include <cstdint>

#include "kernels/core/isa.h"
#include "kernels/core/reduce_rows.h"
#include "kernels/segment/aggregate.h"
#include "kernels/segment/winner.h"

namespace sage {

// Position of the weight of the edge at `position`.
template <class P>
inline int64_t weight_at(const P& p, int64_t position) {
  return p.weight_position ? p.weight_position[position] : p.graph.edge_id(position);
}

// A partial result is a row [H, dim].
template <Isa kIsa, class T>
struct AggregateEdges {
  using A = Acc<T>;
  static ReduceSizes sum_sizes(const Aggregate<T>& p);
  static void push_sum(const Aggregate<T>& p, int64_t begin, int64_t end, A* sum, A* scratch);
  // Winners carry positions; at most RowPlan::kWork edges.
  static void push_max(const Aggregate<T>& p, int64_t begin, int64_t end, Winner<A>* best);
};

// Adds up dx [H, dim] of `row`, and writes dweight.
template <Isa kIsa, class T>
struct AggregateMaxBackwardEdges {
  using A = Acc<T>;
  static void push(const AggregateMaxBackward<T>& p, int64_t row, int64_t begin, int64_t end,
                   A* dx);
};

}  // namespace sage
