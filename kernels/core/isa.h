// Which variant of a vectorised CPU kernel runs. Such a kernel is a template over Isa, defined in a
// *_isa.cpp file that is compiled once for each variant, with SAGE_ISA naming it; code that is
// compiled once calls it through with_isa().
//
// Rule for *_isa.cpp files and the headers that only they include: everything lives in namespace
// sage::SAGE_ISA or has Isa::SAGE_ISA among its template arguments, and nothing shared (std::
// containers and algorithms, parallel_for) stays un-inlined. Otherwise the linker, which keeps one
// copy of an inline function, could hand AVX-512 code to a machine without it. A test looks at the
// symbols.
#pragma once

#include <cstdint>

#include "kernels/core/dispatch.h"

namespace sage {

// x86-64-v2 (on other machines: what the compiler targets), x86-64-v3 and x86-64-v4.
enum class Isa : int32_t { baseline, avx2, avx512 };

// The best variant for this machine, unless the environment variable SAGE_ISA=baseline|avx2|avx512
// asks for a lower one (read once) or limit_isa() does.
Isa current_isa();

// Makes `most` the best variant from now on, within what the machine can run: for tests and benches
// that go through all of them.
void limit_isa(Isa most);

// The rule behind current_isa(): `wanted` may be null or empty; throws where it names no variant.
Isa choose_isa(Isa machine, const char* wanted);
Isa machine_isa();

// Calls f(Const<isa>{}).
template <class F>
void with_isa(F&& f) {
#if defined(__x86_64__) || defined(_M_X64)
  switch (current_isa()) {
    case Isa::avx512:
      return f(Const<Isa::avx512>{});
    case Isa::avx2:
      return f(Const<Isa::avx2>{});
    case Isa::baseline:
      break;
  }
#endif
  f(Const<Isa::baseline>{});
}

}  // namespace sage
