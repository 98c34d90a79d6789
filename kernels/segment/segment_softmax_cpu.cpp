// Softmax over segments on the CPU, forward and backward.
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/core/isa.h"
#include "kernels/core/reduce_rows.h"
#include "kernels/segment/segment.h"
#include "kernels/segment/segment_columns.h"
#include "kernels/segment/zero_outside.h"

namespace sage {
namespace {

// Partial results are maxima [width], then sums of exp(src - max) [width].
template <class A>
void merge_softmax(int64_t width, A* into, const A* other) {
  const auto weight = [](A x, A max) {
    return x == -std::numeric_limits<A>::infinity() ? A{0} : std::exp(x - max);
  };
  for (int64_t c = 0; c < width; ++c) {
    const A max = other[c] > into[c] ? other[c] : into[c];
    into[width + c] = into[width + c] * weight(into[c], max) +  //
                      other[width + c] * weight(other[c], max);
    into[c] = max;
  }
}

}  // namespace

template <class T>
void segment_softmax_cpu(const Segments<T>& s, const T* src, T* out, const Executor& executor) {
  using A = Acc<T>;
  zero_outside(s, out);
  with_isa([&](auto isa) {
    using Columns = SegmentColumns<isa, T>;
    reduce_and_spread_rows<A>(
        s.indptr, s.num_segments, executor, {.partial = 2 * s.width},
        [&](int64_t, int64_t begin, int64_t end, A* state, A*) {
          Columns::softmax_state(src + begin * s.width, end - begin, s.width, state,
                                 state + s.width);
        },
        [&](A* into, const A* other) { merge_softmax(s.width, into, other); },
        [](int64_t, const A*) {},
        [&](int64_t, int64_t begin, int64_t end, const A* state) {
          Columns::softmax(src + begin * s.width, end - begin, s.width, state, state + s.width,
                           out + begin * s.width);
        });
  });
}

template <class T>
void segment_softmax_backward_cpu(const Segments<T>& s, const T* grad, const T* out, T* dsrc,
                                  const Executor& executor) {
  using A = Acc<T>;
  zero_outside(s, dsrc);
  with_isa([&](auto isa) {
    using Columns = SegmentColumns<isa, T>;
    reduce_and_spread_rows<A>(
        s.indptr, s.num_segments, executor, {.partial = s.width},
        [&](int64_t, int64_t begin, int64_t end, A* dot, A*) {
          Columns::dot(grad + begin * s.width, out + begin * s.width, end - begin, s.width, dot);
        },
        [&](A* into, const A* other) {
          for (int64_t c = 0; c < s.width; ++c) into[c] += other[c];
        },
        [](int64_t, const A*) {},
        [&](int64_t, int64_t begin, int64_t end, const A* dot) {
          const int64_t at = begin * s.width;
          Columns::softmax_backward(grad + at, out + at, end - begin, s.width, dot, dsrc + at);
        });
  });
}

template void segment_softmax_cpu(const Segments<float>&, const float*, float*, const Executor&);
template void segment_softmax_cpu(const Segments<double>&, const double*, double*, const Executor&);
template void segment_softmax_cpu(const Segments<bfloat16>&, const bfloat16*, bfloat16*,
                                  const Executor&);
template void segment_softmax_backward_cpu(const Segments<float>&, const float*, const float*,
                                           float*, const Executor&);
template void segment_softmax_backward_cpu(const Segments<double>&, const double*, const double*,
                                           double*, const Executor&);
template void segment_softmax_backward_cpu(const Segments<bfloat16>&, const bfloat16*,
                                           const bfloat16*, bfloat16*, const Executor&);

}  // namespace sage
