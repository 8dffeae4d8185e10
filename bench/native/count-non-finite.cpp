// values n
#include "harness.h"

static volatile uint32_t kept;

void run(Job& job) {
  const uint32_t* bits = job.ints(0);
  uint32_t count = 0;
  for (uint32_t i = 0, n = job.count(1); i < n; i++) count += (bits[i] & 0x7f800000u) == 0x7f800000u;
  kept = count;
}
