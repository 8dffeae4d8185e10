// starts columns endRow target source gramian f unobservedWeight regularizations sweeps blockSize
#include "harness.h"

static float dot(const float* a, const float* b, uint32_t n) {
  float sum = 0;
  for (uint32_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

void run(Job& job) {
  const uint32_t f = job.count(6), size = job.count(10);
  const float unobserved = job.number(7);
  std::vector<float> gathered, predictions, block(size_t(64) * size), a(size_t(size) * size), b(size);
  for (uint32_t row = 0; row < job.count(2); row++) {
    const uint32_t start = job.ints(0)[row], count = job.ints(0)[row + 1] - start;
    float* x = job.floats(3) + size_t(row) * f;
    gathered.resize(size_t(count) * f), predictions.resize(count);
    for (uint32_t e = 0; e < count; e++) {
      memcpy(&gathered[size_t(e) * f], job.floats(4) + size_t(job.ints(1)[start + e]) * f, f * sizeof(float));
      predictions[e] = dot(&gathered[size_t(e) * f], x, f);
    }
    for (uint32_t sweep = 0; sweep < job.count(9); sweep++)
      for (uint32_t offset = 0; offset < f; offset += size) {
        const uint32_t d = std::min(size, f - offset);
        for (uint32_t i = 0; i < d; i++) {
          const float* g = job.floats(5) + size_t(offset + i) * f;
          b[i] = unobserved * dot(g, x, f) + job.floats(8)[row] * x[offset + i];
          for (uint32_t j = 0; j < d; j++) a[i * d + j] = unobserved * g[offset + j];
          a[i * d + i] += job.floats(8)[row];
        }
        for (uint32_t from = 0; from < count; from += 64) {
          const uint32_t rows = std::min(64u, count - from);
          for (uint32_t e = 0; e < rows; e++)
            for (uint32_t i = 0; i < d; i++) {
              block[e * d + i] = gathered[size_t(from + e) * f + offset + i];
              b[i] += (predictions[from + e] - 1) * block[e * d + i];
            }
          addProducts(block.data(), rows, d, a.data());
        }
        choleskySolve(a.data(), b.data(), d);
        for (uint32_t i = 0; i < d; i++) x[offset + i] -= b[i];
        for (uint32_t e = 0; e < count; e++) predictions[e] -= dot(&gathered[size_t(e) * f + offset], b.data(), d);
      }
  }
}
