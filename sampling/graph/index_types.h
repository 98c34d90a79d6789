// Index arrays whose width is known at run time: dispatch to the C++ type, and single accesses.
#pragma once

#include <cstdint>

#include "kernels/core/csr.h"
#include "kernels/core/dispatch.h"
#include "sampling/graph/csr_build.h"

namespace sage {

// Calls f(Type<int32_t>{}) or f(Type<int64_t>{}), for elements of 4 or 8 bytes.
template <class F>
void dispatch_index(int32_t bytes, F&& f) {
  dispatch(OneOf<4, 8>{}, bytes, "bytes of an index", [&](auto width) {
    if constexpr (width == 8) {
      f(Type<int64_t>{});
    } else {
      f(Type<int32_t>{});
    }
  });
}

SAGE_HD void store_index(const MutableIndexSpan& span, int64_t i, int64_t value) {
  if (span.bytes == 8) {
    static_cast<int64_t*>(span.data)[i] = value;
  } else {
    static_cast<int32_t*>(span.data)[i] = static_cast<int32_t>(value);
  }
}

SAGE_HD IndexSpan read_only(const MutableIndexSpan& span) { return {span.data, span.bytes}; }

// Whether id is in [0, count).
SAGE_HD bool in_range(int64_t id, int64_t count) {
  return static_cast<uint64_t>(id) < static_cast<uint64_t>(count);
}

}  // namespace sage
