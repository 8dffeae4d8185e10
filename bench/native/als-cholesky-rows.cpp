// starts columns endRow target source gramian f unobservedWeight regularizations
#include "harness.h"

void run(Job& job) {
  const uint32_t f = job.count(6);
  std::vector<float> a(size_t(f) * f), block(size_t(64) * f), b(f);
  for (uint32_t row = 0; row < job.count(2); row++) {
    const uint32_t start = job.ints(0)[row], end = job.ints(0)[row + 1];
    for (uint32_t i = 0; i < f * f; i++) a[i] = job.number(7) * job.floats(5)[i];
    for (uint32_t i = 0; i < f; i++) a[i * f + i] += job.floats(8)[row], b[i] = 0;
    for (uint32_t from = start; from < end; from += 64) {
      const uint32_t count = std::min(64u, end - from);
      for (uint32_t e = 0; e < count; e++) {
        const float* s = job.floats(4) + size_t(job.ints(1)[from + e]) * f;
        for (uint32_t i = 0; i < f; i++) block[e * f + i] = s[i], b[i] += s[i];
      }
      addProducts(block.data(), count, f, a.data());
    }
    choleskySolve(a.data(), b.data(), f);
    std::copy(b.begin(), b.end(), job.floats(3) + size_t(row) * f);
  }
}
