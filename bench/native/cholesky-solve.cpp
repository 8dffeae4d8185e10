// matrix right f count
#include "harness.h"

void run(Job& job) {
  const uint32_t f = job.count(2);
  std::vector<float> a(f * f);
  for (uint32_t i = 0; i < job.count(3); i++) {
    memcpy(a.data(), job.floats(0), f * f * sizeof(float));
    choleskySolve(a.data(), job.floats(1), f);
  }
}
