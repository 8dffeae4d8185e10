// a b n
#include "harness.h"

static volatile float kept;

void run(Job& job) {
  float sum = 0;
  for (uint32_t i = 0; i < job.count(2); i++) sum += job.floats(0)[i] * job.floats(1)[i];
  kept = sum;
}
