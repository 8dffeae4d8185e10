// query panels items f k outItems outScores
#include "harness.h"

void run(Job& job) {
  const uint32_t items = job.count(2), f = job.count(3);
  const float* query = job.floats(0);
  Best best(job.count(4));
  for (uint32_t p = 0; p * 8 < items; p += 4) {
    Lanes sums[4] = {};
    const uint32_t live = std::min(4u, (items - p * 8 + 7) / 8);
    const Lanes* panels[4];
    for (uint32_t q = 0; q < 4; q++)
      panels[q] = reinterpret_cast<const Lanes*>(job.floats(1) + size_t(p + std::min(q, live - 1)) * f * 8);
    for (uint32_t x = 0; x < f; x++) {
#pragma GCC unroll 4
      for (int q = 0; q < 4; q++) sums[q] += query[x] * panels[q][x];
    }
    for (uint32_t q = 0; q < live; q++)
      for (uint32_t lane = 0; lane < 8 && (p + q) * 8 + lane < items; lane++)
        if (sums[q][lane] > best.threshold()) best.offer(sums[q][lane], (p + q) * 8 + lane);
  }
  best.write(job.ints(5), job.floats(6));
}
