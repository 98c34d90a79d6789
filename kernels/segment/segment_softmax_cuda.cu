// Softmax over segments on CUDA, forward and backward.
#include <limits>

#include "kernels/core/vec.cuh"
#include "kernels/segment/segment.h"
#include "kernels/segment/segment_teams.cuh"

namespace sage {
namespace {

template <class T>
struct Softmax {
  using A = Acc<T>;
  using Item = A;
  static constexpr bool kEachRow = true;
  static constexpr A kLowest = -std::numeric_limits<A>::infinity();
  // In natural units, unlike SoftmaxState: src is the caller's, and scaling a large score by log2 e
  // before the maximum is taken off would cost digits.
  struct State {
    A max = kLowest, sum = 0;
  };
  const T* src;
  T* out;

  __device__ Item load(int64_t, int64_t, int64_t, int64_t at) const {
    return static_cast<A>(src[at]);
  }
  __device__ void push(State& s, A x, int64_t) const {
    if (x > s.max) {
      s.sum *= exp(s.max - x);
      s.max = x;
    }
    s.sum += weight(x, s.max);
  }
  __device__ void merge(State& s, const State& other) const {
    const A old = s.max;
    s.max = other.max > old ? other.max : old;
    s.sum = s.sum * weight(old, s.max) + other.sum * weight(other.max, s.max);
  }
  __device__ void finish(const State& s, A x, int64_t at) const {
    // sum is 0 only where all scores are -inf
    out[at] = round_to<T>(s.sum == 0 ? A{0} : exp(x - s.max) / s.sum);
  }
  // exp(x - max), and 0 rather than NaN for (-inf) - (-inf).
  __device__ static A weight(A x, A max) { return x == kLowest ? A{0} : exp(x - max); }
};

template <class T>
struct SoftmaxBackward {
  using A = Acc<T>;
  static constexpr bool kEachRow = true;
  struct Item {
    A grad, out;
  };
  struct State {
    A dot = 0;
  };
  const T *grad, *out;
  T* dsrc;

  __device__ Item load(int64_t, int64_t, int64_t, int64_t at) const {
    return {static_cast<A>(grad[at]), static_cast<A>(out[at])};
  }
  __device__ void push(State& s, const Item& x, int64_t) const { s.dot += x.grad * x.out; }
  __device__ void merge(State& s, const State& other) const { s.dot += other.dot; }
  __device__ void finish(const State& s, const Item& x, int64_t at) const {
    dsrc[at] = round_to<T>(x.out * (x.grad - s.dot));
  }
};

}  // namespace

template <class T>
void segment_softmax_cuda(const Segments<T>& s, const T* src, T* out, CudaStream stream) {
  segment::zero_outside(s, out, stream);
  segment::launch_segments(s, Softmax<T>{src, out}, stream);
}

template <class T>
void segment_softmax_backward_cuda(const Segments<T>& s, const T* grad, const T* out, T* dsrc,
                                   CudaStream stream) {
  segment::zero_outside(s, dsrc, stream);
  segment::launch_segments(s, SoftmaxBackward<T>{grad, out, dsrc}, stream);
}

template void segment_softmax_cuda(const Segments<float>&, const float*, float*, CudaStream);
template void segment_softmax_cuda(const Segments<double>&, const double*, double*, CudaStream);
template void segment_softmax_cuda(const Segments<bfloat16>&, const bfloat16*, bfloat16*,
                                   CudaStream);
template void segment_softmax_backward_cuda(const Segments<float>&, const float*, const float*,
                                            float*, CudaStream);
template void segment_softmax_backward_cuda(const Segments<double>&, const double*, const double*,
                                            double*, CudaStream);
template void segment_softmax_backward_cuda(const Segments<bfloat16>&, const bfloat16*,
                                            const bfloat16*, bfloat16*, CudaStream);

}  // namespace sage
