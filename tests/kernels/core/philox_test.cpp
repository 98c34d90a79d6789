// Tests of Philox4x32-10 against the known answers of its authors, and of dropout's draws.
#include "kernels/core/philox.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

namespace sage {
namespace {

std::array<uint32_t, 4> draw(uint64_t key, uint64_t high, uint64_t low) {
  uint32_t words[4];
  Philox{key}.draw(high, low, words);
  return {words[0], words[1], words[2], words[3]};
}

// Random123's kat_vectors: philox4x32, 10 rounds.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(draw(0, 0, 0),
            (std::array<uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr uint64_t kOnes = ~uint64_t{0};
  EXPECT_EQ(draw(kOnes, kOnes, kOnes),
            (std::array<uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(draw(0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88),
            (std::array<uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Dropout, KeepsTheShareThatItShould) {
  for (double p : {0.0, 0.1, 0.5, 0.9}) {
    const uint32_t threshold = dropout_threshold(p);
    int64_t kept = 0;
    constexpr int64_t kEdges = 50000, kHeads = 5;
    for (int64_t e = 0; e < kEdges; ++e) {
      for (int64_t h = 0; h < kHeads; ++h) kept += dropout_keep(11, e, h, threshold);
    }
    constexpr double kDraws = kEdges * kHeads;
    const double sigma = std::sqrt(p * (1 - p) / kDraws);
    EXPECT_NEAR(static_cast<double>(kept) / kDraws, 1 - p, 5 * sigma) << p;
  }
}

TEST(Dropout, DependsOnSeedEdgeAndHead) {
  constexpr uint32_t kHalf = 0x80000000u;
  constexpr int64_t kFar = int64_t{1} << 40;
  using Mask = std::array<bool, 64>;
  const auto over_heads = [&](uint64_t seed, int64_t edge) {
    Mask kept;
    for (size_t i = 0; i < 64; ++i) {
      kept[i] = dropout_keep(seed, edge, static_cast<int64_t>(i), kHalf);
    }
    return kept;
  };
  const auto over_edges = [&](uint64_t seed, int64_t head) {
    Mask kept;
    for (size_t i = 0; i < 64; ++i) {
      kept[i] = dropout_keep(seed, static_cast<int64_t>(i), head, kHalf);
    }
    return kept;
  };
  EXPECT_EQ(over_heads(3, 5), over_heads(3, 5));
  const std::set<Mask> masks = {
      over_heads(1, 0), over_heads(2, 0),    over_heads(1, 1),
      over_edges(1, 0), over_edges(1, 1),    over_edges(1, 4),
      over_edges(2, 0), over_heads(1, kFar), over_heads(uint64_t{1} << 40, 0)};
  EXPECT_EQ(masks.size(), 9u);
}

}  // namespace
}  // namespace sage
