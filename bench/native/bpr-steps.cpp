// starts columns entryUsers entries items userFactors itemFactors f rate regularization samples random
#include "harness.h"

static uint32_t next(uint32_t* s) {
  uint32_t t = s[3];
  s[3] = s[2], s[2] = s[1], s[1] = s[0];
  t ^= t << 11, t ^= t >> 8;
  return s[0] = t ^ s[0] ^ (s[0] >> 19);
}

void run(Job& job) {
  const uint32_t *starts = job.ints(0), *columns = job.ints(1), f = job.count(7);
  const float rate = job.number(8), keep = 1 - rate * job.number(9);
  for (uint32_t sample = 0; sample < job.count(10); sample++) {
    const uint32_t entry = next(job.ints(11)) % job.count(3), user = job.ints(2)[entry];
    for (int tries = 0; tries < 16; tries++) {
      const uint32_t negative = next(job.ints(11)) % job.count(4);
      if (std::binary_search(columns + starts[user], columns + starts[user + 1], negative)) continue;
      float* __restrict u = job.floats(5) + size_t(user) * f;
      float* __restrict i = job.floats(6) + size_t(columns[entry]) * f;
      float* __restrict j = job.floats(6) + size_t(negative) * f;
      float margin = 0;
      for (uint32_t x = 0; x < f; x++) margin += u[x] * (i[x] - j[x]);
      const float step = rate / (1 + expf(margin));
      for (uint32_t x = 0; x < f; x++) {
        const float a = u[x], b = i[x], c = j[x];
        u[x] = keep * a + step * (b - c), i[x] = keep * b + step * a, j[x] = keep * c - step * a;
      }
      break;
    }
  }
}
