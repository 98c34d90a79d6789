// Threads are injected: a CPU kernel runs its loops through the executor that its caller owns.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace sage {

// run(pool, n, grain, body, context) calls body(context, begin, end) for disjoint ranges that cover
// [0, n), each at least `grain` long but the last, and returns when all are done. An exception of
// body is rethrown to the caller.
struct Executor {
  using Body = void (*)(void* context, int64_t begin, int64_t end);
  void (*run)(void* pool, int64_t n, int64_t grain, Body body, void* context) = nullptr;
  void* pool = nullptr;
  int32_t num_threads = 1;
};

// Calls f(begin, end) over [0, n); on the calling thread where `executor` has no pool.
template <class F>
void parallel_for(const Executor& executor, int64_t n, int64_t grain, F&& f) {
  if (n <= 0) return;
  if (executor.run == nullptr || executor.num_threads <= 1 || n <= grain) return f(int64_t{0}, n);
  using Fn = std::remove_reference_t<F>;
  executor.run(
      executor.pool, n, grain,
      [](void* context, int64_t begin, int64_t end) { (*static_cast<Fn*>(context))(begin, end); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

}  // namespace sage
