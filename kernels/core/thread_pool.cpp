// A pool of std::threads behind an Executor.
#include "kernels/core/thread_pool.h"

#include <algorithm>
#include <string>

#include "kernels/core/check.h"

namespace sage {
namespace {

constexpr int64_t kPiecesPerThread = 4;
constexpr int32_t kMostThreads = 1024;

thread_local bool inside_loop = false;

}  // namespace

ThreadPool::ThreadPool(int32_t num_threads) {
  check(num_threads >= 0 && num_threads <= kMostThreads, [&] {
    return "num_threads must be in [0, " + std::to_string(kMostThreads) + "], got " +
           std::to_string(num_threads);
  });
  if (num_threads == 0) {
    num_threads =
        std::clamp(static_cast<int32_t>(std::thread::hardware_concurrency()), 1, kMostThreads);
  }
  workers_.reserve(static_cast<size_t>(num_threads) - 1);
  for (int32_t i = 1; i < num_threads; ++i) workers_.emplace_back([this] { worker(); });
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  started_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

Executor ThreadPool::executor() {
  Executor executor;
  executor.pool = this;
  executor.num_threads = num_threads();
  executor.run = [](void* pool, int64_t n, int64_t grain, Executor::Body body, void* context) {
    static_cast<ThreadPool*>(pool)->run(n, grain, body, context);
  };
  return executor;
}

void ThreadPool::run(int64_t n, int64_t grain, Executor::Body body, void* context) {
  if (n <= 0) return;
  if (inside_loop) return body(context, 0, n);
  const std::lock_guard turn(turn_);
  std::unique_lock lock(mutex_);
  const int64_t pieces = kPiecesPerThread * num_threads();
  loop_ = {body, context, n, std::max({grain, (n + pieces - 1) / pieces, int64_t{1}}), 0, nullptr};
  started_.notify_all();
  work(lock);
  finished_.wait(lock, [&] { return busy_ == 0; });
  if (loop_.error) std::rethrow_exception(loop_.error);
}

// Takes pieces until none is left; `lock` is held except inside the body.
void ThreadPool::work(std::unique_lock<std::mutex>& lock) {
  ++busy_;
  inside_loop = true;
  while (loop_.next < loop_.n) {
    const int64_t begin = loop_.next;
    const int64_t end = loop_.next = std::min(begin + loop_.piece, loop_.n);
    const Executor::Body body = loop_.body;
    void* const context = loop_.context;
    lock.unlock();
    std::exception_ptr error;
    try {
      body(context, begin, end);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) {
      if (!loop_.error) loop_.error = error;
      loop_.next = loop_.n;
    }
  }
  inside_loop = false;
  if (--busy_ == 0) finished_.notify_all();
}

void ThreadPool::worker() {
  std::unique_lock lock(mutex_);
  for (;;) {
    started_.wait(lock, [&] { return stop_ || loop_.next < loop_.n; });
    if (stop_) return;
    work(lock);
  }
}

}  // namespace sage
