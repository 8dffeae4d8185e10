// source f columns count base scale diagonal out
#include "harness.h"

void run(Job& job) {
  const uint32_t f = job.count(1), count = job.count(3);
  float* out = job.floats(7);
  std::vector<float> block(size_t(64) * f);
  for (uint32_t i = 0; i < f * f; i++) out[i] = job.number(5) * job.floats(4)[i];
  for (uint32_t i = 0; i < f; i++) out[i * f + i] += job.number(6);
  for (uint32_t from = 0; from < count; from += 64) {
    const uint32_t rows = std::min(64u, count - from);
    for (uint32_t e = 0; e < rows; e++)
      memcpy(&block[e * f], job.floats(0) + size_t(job.ints(2)[from + e]) * f, f * sizeof(float));
    addProducts(block.data(), rows, f, out);
  }
  for (uint32_t i = 0; i < f; i++)
    for (uint32_t j = 0; j < i; j++) out[i * f + j] = out[j * f + i];
}
