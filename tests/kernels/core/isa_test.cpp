// The choice of the instruction set.
#include "kernels/core/isa.h"

#include <gtest/gtest.h>

#include "kernels/core/check.h"

namespace sage {
namespace {

TEST(Isa, EnvironmentMayLowerTheChoice) {
  EXPECT_EQ(choose_isa(Isa::avx512, nullptr), Isa::avx512);
  EXPECT_EQ(choose_isa(Isa::avx2, ""), Isa::avx2);
  EXPECT_EQ(choose_isa(Isa::avx512, "baseline"), Isa::baseline);
  EXPECT_EQ(choose_isa(Isa::avx512, "avx2"), Isa::avx2);
}

TEST(Isa, EnvironmentNeverRaisesTheChoice) {
  EXPECT_EQ(choose_isa(Isa::baseline, "avx512"), Isa::baseline);
  EXPECT_EQ(choose_isa(Isa::avx2, "avx512"), Isa::avx2);
}

TEST(Isa, UnknownNamesAreRefused) {
  try {
    choose_isa(Isa::avx2, "sse9");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "SAGE_ISA must be baseline, avx2 or avx512, got 'sse9'");
  }
}

TEST(Isa, LimitHoldsUntilTheNextOne) {
  const Isa before = current_isa();
  limit_isa(Isa::baseline);
  EXPECT_EQ(current_isa(), Isa::baseline);
  int calls = 0;
  with_isa([&](auto isa) {
    EXPECT_EQ(isa(), Isa::baseline);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  limit_isa(Isa::avx512);
  EXPECT_EQ(current_isa(), machine_isa());
  limit_isa(before);
}

}  // namespace
}  // namespace sage
