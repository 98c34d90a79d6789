// The loop over rows that CPU kernels share: order of the steps, long rows, threads.
#include "kernels/core/reduce_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/core/thread_pool.h"

namespace sage {
namespace {

constexpr int64_t kHub = 3 * RowPlan::kWork + 17;

std::vector<int64_t> test_indptr() {
  std::vector<int64_t> indptr{0};
  for (int64_t row = 0; row < 5000; ++row) {
    indptr.push_back(indptr.back() + (row == 9 || row == 4999 ? kHub : row % 5));
  }
  return indptr;
}

// Sums edge numbers in float, in which the order shows.
std::vector<float> row_sums(const Executor& executor, std::vector<float>* spread_over = nullptr) {
  const std::vector<int64_t> indptr = test_indptr();
  std::vector<float> sums(indptr.size() - 1);
  if (spread_over != nullptr) spread_over->assign(static_cast<size_t>(indptr.back()), -1);
  reduce_and_spread_rows<float>(
      indptr.data(), static_cast<int64_t>(sums.size()), executor, {.partial = 1, .scratch = 2},
      [](int64_t, int64_t begin, int64_t end, float* partial, float* scratch) {
        scratch[0] = scratch[1] = 0;
        for (int64_t e = begin; e < end; ++e) scratch[1] += static_cast<float>(e) * 0.1f;
        *partial = scratch[1];
      },
      [](float* into, const float* other) { *into += *other; },
      [&](int64_t row, float* total) {
        sums[static_cast<size_t>(row)] = *total;
        *total += 1;
      },
      [&](int64_t, int64_t begin, int64_t end, const float* total) {
        if (spread_over == nullptr) return;
        for (int64_t e = begin; e < end; ++e) (*spread_over)[static_cast<size_t>(e)] = *total;
      });
  return sums;
}

TEST(ReduceRows, SumsEveryRow) {
  const std::vector<int64_t> indptr = test_indptr();
  const std::vector<float> sums = row_sums({});
  for (size_t row = 0; row < sums.size(); ++row) {
    double expected = 0;
    for (int64_t e = indptr[row]; e < indptr[row + 1]; ++e) expected += static_cast<double>(e) / 10;
    EXPECT_NEAR(sums[row], expected, 1e-5 * expected) << row;
  }
}

TEST(ReduceRows, SameBitsOnAnyNumberOfThreads) {
  const std::vector<float> expected = row_sums({});
  for (int32_t threads : {2, 3, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(row_sums(pool.executor()), expected) << threads;
  }
}

TEST(ReduceRows, SpreadSeesWhatFinishLeft) {
  const std::vector<int64_t> indptr = test_indptr();
  ThreadPool pool(3);
  std::vector<float> spread_over;
  const std::vector<float> sums = row_sums(pool.executor(), &spread_over);
  for (size_t row = 0; row < sums.size(); ++row) {
    for (int64_t e = indptr[row]; e < indptr[row + 1]; ++e) {
      ASSERT_EQ(spread_over[static_cast<size_t>(e)], sums[row] + 1) << row;
    }
  }
}

TEST(ReduceRows, NoRows) {
  const int64_t indptr[] = {0};
  const auto fail = [](auto...) { FAIL(); };
  reduce_rows<float>(indptr, 0, {}, {.partial = 3}, fail, fail, fail);
}

}  // namespace
}  // namespace sage
