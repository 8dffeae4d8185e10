// starts features endRow bias linear factors f targets biasSquares linearSquares factorSquares rate
// linearRegularization factorRegularization
#include "harness.h"

static void step(float& parameter, float& square, float gradient, float rate) {
  square += gradient * gradient;
  parameter -= rate * gradient / sqrtf(square);
}

void run(Job& job) {
  const uint32_t f = job.count(6);
  const float rate = job.number(11);
  std::vector<float> sums(f);
  for (uint32_t row = 0; row < job.count(2); row++) {
    const uint32_t start = job.ints(0)[row], end = job.ints(0)[row + 1];
    float score = job.floats(3)[0], squares = 0;
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (uint32_t e = start; e < end; e++) {
      const uint32_t feature = job.ints(1)[e];
      const float* v = job.floats(5) + size_t(feature) * f;
      score += job.floats(4)[feature];
      for (uint32_t k = 0; k < f; k++) sums[k] += v[k], squares += v[k] * v[k];
    }
    float all = 0;
    for (uint32_t k = 0; k < f; k++) all += sums[k] * sums[k];
    score += 0.5f * (all - squares);
    const float slope = 1 / (1 + expf(-score)) - job.floats(7)[row];
    step(job.floats(3)[0], job.floats(8)[0], slope, rate);
    for (uint32_t e = start; e < end; e++) {
      const uint32_t feature = job.ints(1)[e];
      float* linear = job.floats(4) + feature;
      step(*linear, job.floats(9)[feature], slope + job.number(12) * *linear, rate);
      float* __restrict v = job.floats(5) + size_t(feature) * f;
      float* __restrict square = job.floats(10) + size_t(feature) * f;
      const float regularization = job.number(13);
      for (uint32_t k = 0; k < f; k++) step(v[k], square[k], slope * (sums[k] - v[k]) + regularization * v[k], rate);
    }
  }
}
