// target source factor n
#include "harness.h"

void run(Job& job) {
  float* __restrict target = job.floats(0);
  const float* source = job.floats(1);
  const float factor = job.number(2);
  for (uint32_t i = 0, n = job.count(3); i < n; i++) target[i] += factor * source[i];
}
