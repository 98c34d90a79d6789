// Philox4x32-10 (Salmon et al., SC 2011): a counter-based generator, the same bits on CPU and CUDA.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"

namespace sage {

struct Philox {
  uint64_t key;

  // Four independent uniform 32-bit words for one 128-bit counter (high, low).
  SAGE_HD void draw(uint64_t high, uint64_t low, uint32_t (&out)[4]) const {
    uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
    uint32_t c0 = static_cast<uint32_t>(low), c1 = static_cast<uint32_t>(low >> 32);
    uint32_t c2 = static_cast<uint32_t>(high), c3 = static_cast<uint32_t>(high >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * c0, p1 = uint64_t{0xCD9E8D57u} * c2;
      c0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      c1 = static_cast<uint32_t>(p1);
      c2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c3 = static_cast<uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
  }
};

// Attention dropout: whether the weight of (edge, head) is kept. A pure function of its arguments,
// so forward and backward, CPU and CUDA agree and no mask is stored. Four heads share one draw.
// `threshold` is dropout_threshold(p); kept with probability 1 - p to 2^-32.
SAGE_HD bool dropout_keep(uint64_t seed, int64_t edge_id, int64_t head, uint32_t threshold) {
  uint32_t words[4];
  Philox{seed}.draw(static_cast<uint64_t>(head) >> 2, static_cast<uint64_t>(edge_id), words);
  const int64_t w = head & 3;  // no run-time index into `words`: it must stay in registers
  const uint32_t word = w == 0 ? words[0] : w == 1 ? words[1] : w == 2 ? words[2] : words[3];
  return word >= threshold;
}

SAGE_HD uint32_t dropout_threshold(double p) { return static_cast<uint32_t>(p * 4294967296.0); }

}  // namespace sage
