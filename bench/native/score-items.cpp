// query factors f items count scores
#include "harness.h"

void run(Job& job) {
  const uint32_t f = job.count(2);
  for (uint32_t i = 0; i < job.count(4); i++) {
    const float* row = job.floats(1) + size_t(job.ints(3)[i]) * f;
    float sum = 0;
    for (uint32_t k = 0; k < f; k++) sum += job.floats(0)[k] * row[k];
    job.floats(5)[i] = sum;
  }
}
