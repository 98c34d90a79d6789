// Tests of ThreadPool: every index once, exceptions, loops in loops and from several threads.
#include "kernels/core/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "kernels/core/check.h"

namespace sage {
namespace {

TEST(ThreadPool, VisitsEveryIndexOnce) {
  for (int32_t threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.num_threads(), threads);
    for (int64_t n : {0, 1, 2, 7, 1000, 100003}) {
      for (int64_t grain : {1, 64, 200000}) {
        std::vector<std::atomic<int>> visits(static_cast<size_t>(n));
        parallel_for(pool.executor(), n, grain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
        });
        for (const auto& v : visits) ASSERT_EQ(v, 1);
      }
    }
  }
}

TEST(ThreadPool, PiecesAreAtLeastAGrain) {
  ThreadPool pool(3);
  std::atomic<int> pieces{0}, bad{0};
  parallel_for(pool.executor(), 1000, 90, [&](int64_t begin, int64_t end) {
    ++pieces;
    if (end - begin < 90 && end != 1000) ++bad;
  });
  EXPECT_EQ(bad, 0);
  EXPECT_LE(pieces, 12);
}

TEST(ThreadPool, UsesAllItsThreads) {
  ThreadPool pool(3);
  std::atomic<int> arrived{0};
  // Each piece waits for the others: one thread alone would never get through.
  parallel_for(pool.executor(), 3, 1, [&](int64_t begin, int64_t end) {
    arrived += static_cast<int>(end - begin);
    while (arrived < 3) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 3);
}

TEST(ThreadPool, RethrowsAndWorksOn) {
  ThreadPool pool(4);
  for (int round = 0; round < 20; ++round) {
    const auto fail = [&] {
      parallel_for(pool.executor(), 1000, 1, [](int64_t begin, int64_t end) {
        if (begin <= 500 && 500 < end) throw std::out_of_range("500");
      });
    };
    EXPECT_THROW(fail(), std::out_of_range);
    std::atomic<int64_t> sum{0};
    parallel_for(pool.executor(), 1000, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    EXPECT_EQ(sum, 1000);
  }
}

TEST(ThreadPool, LoopsInLoopsRunWhereTheyAre) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  parallel_for(pool.executor(), 50, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto here = std::this_thread::get_id();
      parallel_for(pool.executor(), 20, 1, [&](int64_t b, int64_t e) {
        EXPECT_EQ(std::this_thread::get_id(), here);
        sum += e - b;
      });
    }
  });
  EXPECT_EQ(sum, 1000);
}

TEST(ThreadPool, SeveralCallersTakeTurns) {
  ThreadPool pool(3);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        parallel_for(pool.executor(), 100, 1, [&](int64_t b, int64_t e) { sum += e - b; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 50 * 100);
}

TEST(ThreadPool, ChoosesAndChecksItsSize) {
  EXPECT_GE(ThreadPool().num_threads(), 1);
  EXPECT_THROW(ThreadPool(-1), Error);
  EXPECT_THROW(ThreadPool(100000), Error);
}

}  // namespace
}  // namespace sage
