// Prefetching on the CPU: a hint that memory will be read soon. Any address will do.
#pragma once

#include <cstdint>

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace sage {

// Asks for the cache lines of [address, address + bytes), the first 16 of them; what lies behind
// is for the hardware's own prefetcher.
inline void prefetch(const void* address, int64_t bytes) {
#if defined(__x86_64__) || defined(_M_X64)
  constexpr int64_t kLine = 64, kMost = 16 * kLine;
  const char* const p = static_cast<const char*>(address);
  for (int64_t b = 0; b < (bytes < kMost ? bytes : kMost); b += kLine) {
    _mm_prefetch(p + b, _MM_HINT_T0);
  }
#else
  static_cast<void>(address), static_cast<void>(bytes);
#endif
}

}  // namespace sage
