// Sum, mean, max and min over segments on CUDA, forward and backward.
#include "kernels/core/vec.cuh"
#include "kernels/segment/segment.h"
#include "kernels/segment/segment_teams.cuh"

namespace sage {
namespace {

template <class T>
struct SumOrMean {
  using A = Acc<T>;
  using Item = A;
  static constexpr bool kEachRow = false;
  struct State {
    A sum = 0;
  };
  const T* src;
  const int64_t* mean_indptr;  // null: sum
  int64_t width;
  T* out;

  __device__ Item load(int64_t, int64_t, int64_t, int64_t at) const {
    return static_cast<A>(src[at]);
  }
  __device__ void push(State& s, A x, int64_t) const { s.sum += x; }
  __device__ void merge(State& s, const State& other) const { s.sum += other.sum; }
  __device__ void finish(const State& s, int64_t segment, int64_t column) const {
    const int64_t count =
        mean_indptr == nullptr ? 1 : mean_indptr[segment + 1] - mean_indptr[segment];
    out[segment * width + column] = round_to<T>(s.sum / static_cast<A>(count > 0 ? count : 1));
  }
};

// Max, or min as the max of -x. The first row wins a tie, and NaN wins over all.
template <class T>
struct MaxOrMin {
  using A = Acc<T>;
  using Item = A;
  static constexpr bool kEachRow = false;
  struct State {
    int64_t row = -1;
    A value = 0;
    A unused = 0;  // no padding: states travel as 32-bit words
  };
  const T* src;
  A sign;  // 1: max, -1: min
  int64_t width;
  T* out;
  int64_t* arg;

  __device__ Item load(int64_t, int64_t, int64_t, int64_t at) const {
    return sign * static_cast<A>(src[at]);
  }
  __device__ void push(State& s, A x, int64_t row) const { merge(s, {row, x}); }
  __device__ void merge(State& s, const State& other) const {
    if (other.row < 0) return;
    const bool s_nan = s.value != s.value, other_nan = other.value != other.value;
    const bool tie = s.value == other.value || (s_nan && other_nan);
    const bool better = !s_nan && (other_nan || other.value > s.value);
    if (s.row < 0 || better || (tie && other.row < s.row)) s = other;
  }
  __device__ void finish(const State& s, int64_t segment, int64_t column) const {
    const int64_t at = segment * width + column;
    out[at] = round_to<T>(s.row < 0 ? A{0} : sign * s.value);
    arg[at] = s.row;
  }
};

// Every row of a segment gets the segment's gradient, divided by its length for the mean.
template <class T>
struct Spread {
  using A = Acc<T>;
  using Item = A;
  static constexpr bool kEachRow = true;
  struct State {};
  const T* grad;
  const int64_t* mean_indptr;  // null: sum
  int64_t width;
  T* dsrc;

  __device__ Item load(int64_t segment, int64_t, int64_t column, int64_t) const {
    const A x = static_cast<A>(grad[segment * width + column]);
    return mean_indptr == nullptr
               ? x
               : x / static_cast<A>(mean_indptr[segment + 1] - mean_indptr[segment]);
  }
  __device__ void push(State&, A, int64_t) const {}
  __device__ void merge(State&, const State&) const {}
  __device__ void finish(const State&, A x, int64_t at) const { dsrc[at] = round_to<T>(x); }
};

// dsrc, zeroed before, gets each gradient at its winner; a (row, column) wins one segment at most.
template <class T>
__global__ void to_winners_kernel(int64_t count, int64_t width, const T* grad, const int64_t* arg,
                                  T* dsrc) {
  for (int64_t i : grid_stride(count)) {
    if (arg[i] >= 0) dsrc[arg[i] * width + i % width] = grad[i];
  }
}

}  // namespace

template <class T>
void segment_reduce_cuda(const Segments<T>& s, Reduce reduce, const T* src, T* out, int64_t* arg,
                         CudaStream stream) {
  if (reduce == Reduce::kSum || reduce == Reduce::kMean) {
    const int64_t* mean_indptr = reduce == Reduce::kMean ? s.indptr : nullptr;
    segment::launch_segments(s, SumOrMean<T>{src, mean_indptr, s.width, out}, stream);
  } else {
    const Acc<T> sign = reduce == Reduce::kMax ? 1 : -1;
    segment::launch_segments(s, MaxOrMin<T>{src, sign, s.width, out, arg}, stream);
  }
}

template <class T>
void segment_reduce_backward_cuda(const Segments<T>& s, Reduce reduce, const T* grad,
                                  const int64_t* arg, T* dsrc, CudaStream stream) {
  if (reduce == Reduce::kSum || reduce == Reduce::kMean) {
    segment::zero_outside(s, dsrc, stream);
    const int64_t* mean_indptr = reduce == Reduce::kMean ? s.indptr : nullptr;
    segment::launch_segments(s, Spread<T>{grad, mean_indptr, s.width, dsrc}, stream);
    return;
  }
  if (s.num_rows == 0 || s.width == 0) return;
  const size_t bytes = static_cast<size_t>(s.num_rows * s.width) * sizeof(T);
  cuda_check(cudaMemsetAsync(dsrc, 0, bytes, stream), "cudaMemsetAsync");
  const int64_t count = s.num_segments * s.width;
  if (count == 0) return;
  to_winners_kernel<<<blocks_for(count, 256, 65535), 256, 0, stream>>>(count, s.width, grad, arg,
                                                                       dsrc);
  launch_check("to_winners_kernel");
}

template void segment_reduce_cuda(const Segments<float>&, Reduce, const float*, float*, int64_t*,
                                  CudaStream);
template void segment_reduce_cuda(const Segments<double>&, Reduce, const double*, double*, int64_t*,
                                  CudaStream);
template void segment_reduce_cuda(const Segments<bfloat16>&, Reduce, const bfloat16*, bfloat16*,
                                  int64_t*, CudaStream);
template void segment_reduce_backward_cuda(const Segments<float>&, Reduce, const float*,
                                           const int64_t*, float*, CudaStream);
template void segment_reduce_backward_cuda(const Segments<double>&, Reduce, const double*,
                                           const int64_t*, double*, CudaStream);
template void segment_reduce_backward_cuda(const Segments<bfloat16>&, Reduce, const bfloat16*,
                                           const int64_t*, bfloat16*, CudaStream);

}  // namespace sage
