// A stable counting sort in two passes, threaded by ranges of items. Memory: one count a key and
// thread, 4 bytes below 2^31 items.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/core/dispatch.h"
#include "kernels/core/parallel.h"

namespace sage {

// Items handled together. Positions of a block are all taken before anything is written to them:
// lookups of counts and scattered writes in one loop wait for each other, which is twice as slow.
inline constexpr int64_t kSortBlock = 1024;

// Ranges into which `executor` should cut `num_items` items with `num_keys` keys: more threads than
// this would spend their time on the counts.
inline int64_t counting_sort_ranges(int64_t num_items, int64_t num_keys, const Executor& executor) {
  constexpr int64_t kItemsPerRange = 32768;
  const int64_t useful =
      std::min(num_items / kItemsPerRange, 2 * num_items / std::max<int64_t>(num_keys, 1));
  return executor.run == nullptr ? 1 : std::clamp<int64_t>(useful, 1, executor.num_threads);
}

// Sorts items 0 .. num_items-1 by their key in [0, num_keys). Blocks have at most kSortBlock items.
//   keys(begin, count, out)          writes the keys of items begin .. begin+count-1 to int64 out[]
//   place(begin, count, positions)   hands over where the sort puts them
// starts [num_keys] gets the first position of each key.
template <class Keys, class Place>
void counting_sort(int64_t num_items, int64_t num_keys, int64_t* starts, const Executor& executor,
                   Keys&& keys, Place&& place) {
  const int64_t ranges = counting_sort_ranges(num_items, num_keys, executor);
  const auto bound = [&](int64_t n, int64_t r) { return n / ranges * r + std::min(n % ranges, r); };
  const auto for_ranges = [&](auto&& f) {
    parallel_for(executor, ranges, 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) f(r);
    });
  };
  // Calls f(begin, count, keys) for the blocks of range r.
  const auto for_blocks = [&](int64_t r, auto&& f) {
    int64_t block[kSortBlock];
    const int64_t end = bound(num_items, r + 1);
    for (int64_t begin = bound(num_items, r); begin < end; begin += kSortBlock) {
      const int64_t count = std::min(kSortBlock, end - begin);
      keys(begin, count, block);
      f(begin, count, block);
    }
  };
  const auto sort = [&]<class Counter>(Type<Counter>) {
    const auto counters =
        std::make_unique_for_overwrite<Counter[]>(static_cast<size_t>(ranges * num_keys));
    const auto counters_of = [&](int64_t r) { return counters.get() + r * num_keys; };
    for_ranges([&](int64_t r) {
      Counter* const counts = counters_of(r);
      std::fill_n(counts, num_keys, Counter{0});
      for_blocks(r, [&](int64_t, int64_t count, const int64_t* block) {
        for (int64_t j = 0; j < count; ++j) ++counts[block[j]];
      });
    });
    // before[s]: items whose keys lie before the s-th share of the keys.
    std::vector<int64_t> before(static_cast<size_t>(ranges) + 1, 0);
    if (ranges > 1) {
      for_ranges([&](int64_t share) {
        int64_t sum = 0;
        for (int64_t r = 0; r < ranges; ++r) {
          const Counter* const counts = counters_of(r);
          for (int64_t k = bound(num_keys, share); k < bound(num_keys, share + 1); ++k) {
            sum += counts[k];
          }
        }
        before[static_cast<size_t>(share) + 1] = sum;
      });
      for (size_t s = 0; s < static_cast<size_t>(ranges); ++s) before[s + 1] += before[s];
    }
    for_ranges([&](int64_t share) {
      int64_t next = before[static_cast<size_t>(share)];
      for (int64_t k = bound(num_keys, share); k < bound(num_keys, share + 1); ++k) {
        starts[k] = next;
        for (int64_t r = 0; r < ranges; ++r) {
          Counter& counter = counters_of(r)[k];
          const Counter count = counter;
          counter = static_cast<Counter>(next);
          next += count;
        }
      }
    });
    for_ranges([&](int64_t r) {
      Counter* const cursors = counters_of(r);
      for_blocks(r, [&](int64_t begin, int64_t count, int64_t* block) {
        for (int64_t j = 0; j < count; ++j) block[j] = cursors[block[j]]++;
        place(begin, count, static_cast<const int64_t*>(block));
      });
    });
  };
  if (num_items <= std::numeric_limits<int32_t>::max()) {
    sort(Type<int32_t>{});
  } else {
    sort(Type<int64_t>{});
  }
}

}  // namespace sage
