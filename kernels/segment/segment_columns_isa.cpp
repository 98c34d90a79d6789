// The vectorised parts of the segment operators: a tile of columns stays in registers while the
// rows pass by.
#include <cstdint>
#include <limits>

#include "kernels/core/edge_tiles.h"
#include "kernels/core/vector_math.h"
#include "kernels/segment/segment_columns.h"

namespace sage {

template <Isa kIsa, class T>
void SegmentColumns<kIsa, T>::sum(const T* x, int64_t rows, int64_t width, A* sum) {
  SAGE_ISA::for_tiles<A>(width, [&](auto tile, int64_t first) {
    A total[tile] = {};
    for (int64_t r = 0; r < rows; ++r) {
      const T* row = x + r * width + first;
#pragma omp simd
      for (int c = 0; c < tile; ++c) total[c] += static_cast<A>(row[c]);
    }
    for (int c = 0; c < tile; ++c) sum[first + c] = total[c];
  });
}

template <Isa kIsa, class T>
void SegmentColumns<kIsa, T>::dot(const T* x, const T* y, int64_t rows, int64_t width, A* sum) {
  SAGE_ISA::for_tiles<A>(width, [&](auto tile, int64_t first) {
    A total[tile] = {};
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = r * width + first;
#pragma omp simd
      for (int c = 0; c < tile; ++c) {
        total[c] += static_cast<A>(x[at + c]) * static_cast<A>(y[at + c]);
      }
    }
    for (int c = 0; c < tile; ++c) sum[first + c] = total[c];
  });
}

template <Isa kIsa, class T>
void SegmentColumns<kIsa, T>::winner(const T* x, A sign, int64_t first_row, int64_t rows,
                                     int64_t width, Winner<A>* best) {
  using Lane = std::conditional_t<sizeof(A) == 4, int32_t, int64_t>;  // as wide as the value
  SAGE_ISA::for_tiles<A>(width, [&](auto tile, int64_t first) {
    A value[tile] = {};
    Lane row[tile];
    for (int c = 0; c < tile; ++c) row[c] = -1;
    for (int64_t r = 0; r < rows; ++r) {
      const T* candidates = x + r * width + first;
#pragma omp simd
      for (int c = 0; c < tile; ++c) {
        const A candidate = sign * static_cast<A>(candidates[c]);
        const bool wins = row[c] < 0 || beats(candidate, value[c]);
        value[c] = wins ? candidate : value[c];
        row[c] = wins ? static_cast<Lane>(r) : row[c];
      }
    }
    for (int c = 0; c < tile; ++c) {
      best[first + c] = {value[c], row[c] < 0 ? -1 : first_row + row[c]};
    }
  });
}

template <Isa kIsa, class T>
void SegmentColumns<kIsa, T>::softmax_state(const T* x, int64_t rows, int64_t width, A* max,
                                            A* sum) {
  using namespace SAGE_ISA;
  constexpr A kNone = -std::numeric_limits<A>::infinity();
  for_tiles<A>(width, [&](auto tile, int64_t first) {
    A top[tile], base[tile], total[tile] = {};
    for (int c = 0; c < tile; ++c) top[c] = kNone;
    for (int64_t r = 0; r < rows; ++r) {
      const T* row = x + r * width + first;
#pragma omp simd
      for (int c = 0; c < tile; ++c) {
        const A value = static_cast<A>(row[c]);
        top[c] = value > top[c] ? value : top[c];
      }
    }
    for (int c = 0; c < tile; ++c) base[c] = top[c] == kNone ? A{0} : top[c];
    for (int64_t r = 0; r < rows; ++r) {
      const T* row = x + r * width + first;
#pragma omp simd
      for (int c = 0; c < tile; ++c) {
        total[c] += exp2_lane((static_cast<A>(row[c]) - base[c]) * static_cast<A>(kLog2E));
      }
    }
    for (int c = 0; c < tile; ++c) max[first + c] = top[c], sum[first + c] = total[c];
  });
}

template <Isa kIsa, class T>
void SegmentColumns<kIsa, T>::softmax(const T* x, int64_t rows, int64_t width, const A* max,
                                      const A* sum, T* out) {
  using namespace SAGE_ISA;
  constexpr A kNone = -std::numeric_limits<A>::infinity();
  for_tiles<A>(width, [&](auto tile, int64_t first) {
    A base[tile], scale[tile];
    for (int c = 0; c < tile; ++c) {
      base[c] = max[first + c] == kNone ? A{0} : max[first + c];
      scale[c] = sum[first + c] == 0 ? A{0} : 1 / sum[first + c];
    }
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = r * width + first;
#pragma omp simd
      for (int c = 0; c < tile; ++c) {
        const A value = (static_cast<A>(x[at + c]) - base[c]) * static_cast<A>(kLog2E);
        out[at + c] = static_cast<T>(exp2_lane(value) * scale[c]);
      }
    }
  });
}

template <Isa kIsa, class T>
void SegmentColumns<kIsa, T>::softmax_backward(const T* grad, const T* out, int64_t rows,
                                               int64_t width, const A* dot, T* dx) {
  SAGE_ISA::for_tiles<A>(width, [&](auto tile, int64_t first) {
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = r * width + first;
#pragma omp simd
      for (int c = 0; c < tile; ++c) {
        const A delta = static_cast<A>(grad[at + c]) - dot[first + c];
        dx[at + c] = static_cast<T>(static_cast<A>(out[at + c]) * delta);
      }
    }
  });
}

template struct SegmentColumns<Isa::SAGE_ISA, float>;
template struct SegmentColumns<Isa::SAGE_ISA, double>;
template struct SegmentColumns<Isa::SAGE_ISA, bfloat16>;

}  // namespace sage
