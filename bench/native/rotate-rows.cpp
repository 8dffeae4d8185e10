// factors rows f basis
#include "harness.h"

void run(Job& job) {
  const uint32_t rows = job.count(1), f = job.count(2);
  std::vector<float> out(4 * f);
  for (uint32_t row = 0; row + 4 <= rows; row += 4) {
    float* x = job.floats(0) + size_t(row) * f;
    for (uint32_t j = 0; j < f; j += 16) {
      Lanes sums[4][2] = {};
      for (uint32_t k = 0; k < f; k++) {
        const Lanes low = *reinterpret_cast<const Lanes*>(job.floats(3) + k * f + j);
        const Lanes high = *reinterpret_cast<const Lanes*>(job.floats(3) + k * f + j + 8);
#pragma GCC unroll 4
        for (int u = 0; u < 4; u++) sums[u][0] += x[u * f + k] * low, sums[u][1] += x[u * f + k] * high;
      }
      for (int u = 0; u < 4; u++)
        for (int half = 0; half < 2; half++) *reinterpret_cast<Lanes*>(&out[u * f + j + half * 8]) = sums[u][half];
    }
    memcpy(x, out.data(), 4 * f * sizeof(float));
  }
}
