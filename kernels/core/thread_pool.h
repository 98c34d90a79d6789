// A pool of std::threads behind an Executor, for callers without threads of their own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "kernels/core/parallel.h"

namespace sage {

// The calling thread works too, so that a pool of n starts n - 1 threads. Several threads may use
// one pool: their loops take turns. A loop inside a loop runs on the thread that meets it.
class ThreadPool {
 public:
  // 0 threads: as many as the hardware has.
  explicit ThreadPool(int32_t num_threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Valid as long as the pool.
  Executor executor();
  int32_t num_threads() const { return static_cast<int32_t>(workers_.size()) + 1; }

 private:
  // A loop cut into pieces, which threads take one at a time.
  struct Loop {
    Executor::Body body = nullptr;
    void* context = nullptr;
    int64_t n = 0, piece = 1;
    int64_t next = 0;  // first index that no thread has taken
    std::exception_ptr error;
  };

  void run(int64_t n, int64_t grain, Executor::Body body, void* context);
  void work(std::unique_lock<std::mutex>& lock);
  void worker();

  std::mutex turn_;  // held by the caller whose loop runs
  std::mutex mutex_;
  std::condition_variable started_, finished_;
  Loop loop_;
  int32_t busy_ = 0;  // threads inside the loop's body
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace sage
