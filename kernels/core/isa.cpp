// What the machine can run, and what the environment asks for.
#include "kernels/core/isa.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <string>

#if defined(_MSC_VER)
#include <intrin.h>
#endif

namespace sage {
namespace {

constexpr const char* kNames[] = {"baseline", "avx2", "avx512"};

#if !defined(__x86_64__) && !defined(_M_X64)

Isa detect() { return Isa::baseline; }

#elif defined(_MSC_VER)

Isa detect() {
  constexpr int kOsxsave = 1 << 27, kFma = 1 << 12, kF16c = 1 << 29, kMovbe = 1 << 22;
  constexpr int kBmi1 = 1 << 3, kAvx2 = 1 << 5, kBmi2 = 1 << 8, kLzcnt = 1 << 5;
  constexpr int kAvx512 = 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30 | 1 << 31;  // F, DQ, CD, BW, VL
  const auto has = [](int word, int mask) { return (word & mask) == mask; };
  int leaf0[4], leaf1[4], leaf7[4], extended[4];
  __cpuid(leaf0, 0);
  if (leaf0[0] < 7) return Isa::baseline;
  __cpuid(leaf1, 1);
  __cpuidex(leaf7, 7, 0);
  __cpuid(extended, static_cast<int>(0x80000001u));
  if (!has(leaf1[2], kOsxsave | kFma | kF16c | kMovbe)) return Isa::baseline;
  if (!has(leaf7[1], kBmi1 | kAvx2 | kBmi2) || !has(extended[2], kLzcnt)) return Isa::baseline;
  const auto saved = static_cast<int>(_xgetbv(0));  // registers that the system saves
  if (!has(saved, 0x6)) return Isa::baseline;
  return has(leaf7[1], kAvx512) && has(saved, 0xe6) ? Isa::avx512 : Isa::avx2;
}

#else

Isa detect() {
  const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                  __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? Isa::avx512 : v3 ? Isa::avx2 : Isa::baseline;
}

#endif

std::atomic<Isa>& chosen_isa() {
  static std::atomic<Isa> isa{choose_isa(machine_isa(), std::getenv("SAGE_ISA"))};
  return isa;
}

}  // namespace

Isa machine_isa() {
  static const Isa isa = detect();
  return isa;
}

Isa choose_isa(Isa machine, const char* wanted) {
  if (wanted == nullptr || *wanted == '\0') return machine;
  const auto name = std::find(std::begin(kNames), std::end(kNames), std::string(wanted));
  check(name != std::end(kNames), [&] {
    return "SAGE_ISA must be baseline, avx2 or avx512, got '" + std::string(wanted) + "'";
  });
  return std::min(machine, static_cast<Isa>(name - std::begin(kNames)));
}

Isa current_isa() { return chosen_isa().load(std::memory_order_relaxed); }

void limit_isa(Isa most) {
  chosen_isa().store(std::min(machine_isa(), most), std::memory_order_relaxed);
}

}  // namespace sage
