// Sum, mean, max and min over segments on the CPU, forward and backward.
#include <algorithm>
#include <cstdint>

#include "kernels/core/isa.h"
#include "kernels/core/reduce_rows.h"
#include "kernels/segment/segment.h"
#include "kernels/segment/segment_columns.h"
#include "kernels/segment/zero_outside.h"

namespace sage {
namespace {

// What a segment's sum is multiplied by: 1, or for the mean 1 / length.
template <class T>
Acc<T> scale_of(const Segments<T>& s, Reduce reduce, int64_t segment) {
  const int64_t length = s.indptr[segment + 1] - s.indptr[segment];
  return reduce == Reduce::kMean && length > 0 ? 1 / static_cast<Acc<T>>(length) : Acc<T>{1};
}

template <class T>
void reduce_sum(const Segments<T>& s, Reduce reduce, const T* src, T* out,
                const Executor& executor) {
  using A = Acc<T>;
  with_isa([&](auto isa) {
    reduce_rows<A>(
        s.indptr, s.num_segments, executor, {.partial = s.width},
        [&](int64_t, int64_t begin, int64_t end, A* sum, A*) {
          SegmentColumns<isa, T>::sum(src + begin * s.width, end - begin, s.width, sum);
        },
        [&](A* into, const A* other) {
          for (int64_t c = 0; c < s.width; ++c) into[c] += other[c];
        },
        [&](int64_t segment, const A* sum) {
          const A scale = scale_of(s, reduce, segment);
          T* row = out + segment * s.width;
          for (int64_t c = 0; c < s.width; ++c) row[c] = static_cast<T>(scale * sum[c]);
        });
  });
}

template <class T>
void reduce_winner(const Segments<T>& s, Reduce reduce, const T* src, T* out, int64_t* arg,
                   const Executor& executor) {
  using A = Acc<T>;
  using Best = Winner<A>;
  const A sign = reduce == Reduce::kMax ? A{1} : A{-1};  // the minimum is the maximum of -x
  with_isa([&](auto isa) {
    reduce_rows<Best>(
        s.indptr, s.num_segments, executor, {.partial = s.width},
        [&](int64_t, int64_t begin, int64_t end, Best* best, Best*) {
          SegmentColumns<isa, T>::winner(src + begin * s.width, sign, begin, end - begin, s.width,
                                         best);
        },
        [&](Best* into, const Best* other) {
          for (int64_t c = 0; c < s.width; ++c) merge_winner(into[c], other[c]);
        },
        [&](int64_t segment, const Best* best) {
          for (int64_t c = 0; c < s.width; ++c) {
            const bool empty = best[c].position < 0;
            out[segment * s.width + c] = static_cast<T>(empty ? A{0} : sign * best[c].value);
            arg[segment * s.width + c] = best[c].position;
          }
        });
  });
}

}  // namespace

template <class T>
void segment_reduce_cpu(const Segments<T>& s, Reduce reduce, const T* src, T* out, int64_t* arg,
                        const Executor& executor) {
  if (reduce == Reduce::kSum || reduce == Reduce::kMean) {
    reduce_sum(s, reduce, src, out, executor);
  } else {
    reduce_winner(s, reduce, src, out, arg, executor);
  }
}

template <class T>
void segment_reduce_backward_cpu(const Segments<T>& s, Reduce reduce, const T* grad,
                                 const int64_t* arg, T* dsrc, const Executor& executor) {
  using A = Acc<T>;
  if (reduce == Reduce::kSum || reduce == Reduce::kMean) {
    zero_outside(s, dsrc);
    reduce_and_spread_rows<A>(
        s.indptr, s.num_segments, executor, {},  //
        [](int64_t, int64_t, int64_t, A*, A*) {}, [](A*, const A*) {}, [](int64_t, const A*) {},
        [&](int64_t segment, int64_t begin, int64_t end, const A*) {
          const A scale = scale_of(s, reduce, segment);
          const T* row = grad + segment * s.width;
          for (int64_t r = begin; r < end; ++r) {
            T* out = dsrc + r * s.width;
            for (int64_t c = 0; c < s.width; ++c) {
              out[c] = static_cast<T>(scale * static_cast<A>(row[c]));
            }
          }
        });
    return;
  }
  constexpr int64_t kGrain = 4096;  // elements
  parallel_for(executor, s.num_rows * s.width, kGrain,
               [&](int64_t begin, int64_t end) { std::fill(dsrc + begin, dsrc + end, T{}); });
  // A segment's winners are rows of its own, so that no two threads meet.
  parallel_for(executor, s.num_segments * s.width, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (arg[i] >= 0) dsrc[arg[i] * s.width + i % s.width] = grad[i];
    }
  });
}

template void segment_reduce_cpu(const Segments<float>&, Reduce, const float*, float*, int64_t*,
                                 const Executor&);
template void segment_reduce_cpu(const Segments<double>&, Reduce, const double*, double*, int64_t*,
                                 const Executor&);
template void segment_reduce_cpu(const Segments<bfloat16>&, Reduce, const bfloat16*, bfloat16*,
                                 int64_t*, const Executor&);
template void segment_reduce_backward_cpu(const Segments<float>&, Reduce, const float*,
                                          const int64_t*, float*, const Executor&);
template void segment_reduce_backward_cpu(const Segments<double>&, Reduce, const double*,
                                          const int64_t*, double*, const Executor&);
template void segment_reduce_backward_cpu(const Segments<bfloat16>&, Reduce, const bfloat16*,
                                          const int64_t*, bfloat16*, const Executor&);

}  // namespace sage
