// starts features endRow bias linear factors f outScores
#include "harness.h"

void run(Job& job) {
  const uint32_t f = job.count(6);
  std::vector<float> sums(f);
  for (uint32_t row = 0; row < job.count(2); row++) {
    float score = job.floats(3)[0], squares = 0, all = 0;
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (uint32_t e = job.ints(0)[row]; e < job.ints(0)[row + 1]; e++) {
      const uint32_t feature = job.ints(1)[e];
      const float* v = job.floats(5) + size_t(feature) * f;
      score += job.floats(4)[feature];
      for (uint32_t k = 0; k < f; k++) sums[k] += v[k], squares += v[k] * v[k];
    }
    for (uint32_t k = 0; k < f; k++) all += sums[k] * sums[k];
    job.floats(7)[row] = score + 0.5f * (all - squares);
  }
}
