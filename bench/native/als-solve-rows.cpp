// starts columns endRow target source gramian f unobservedWeight regularizations steps
#include "harness.h"

static float dot(const float* a, const float* b, uint32_t f) {
  float sum = 0;
  for (uint32_t i = 0; i < f; i++) sum += a[i] * b[i];
  return sum;
}

// out = (unobservedWeight G + regularization) v, then out += (offset + sign s.v) s over the rows
static void apply(const float* gathered, uint32_t count, const float* gramian, uint32_t f, float unobserved,
                  float regularization, float offset, float sign, const float* v, float* out) {
  for (uint32_t i = 0; i < f; i++) out[i] = regularization * v[i];
  for (uint32_t i = 0; i < f; i++) {
    const float factor = unobserved * v[i];
    for (uint32_t j = 0; j < f; j++) out[j] += factor * gramian[i * f + j];
  }
  for (uint32_t e = 0; e < count; e++) {
    const float* s = gathered + size_t(e) * f;
    const float factor = offset + sign * dot(s, v, f);
    for (uint32_t i = 0; i < f; i++) out[i] += factor * s[i];
  }
}

void run(Job& job) {
  const uint32_t f = job.count(6), steps = job.count(9);
  const float unobserved = job.number(7);
  std::vector<float> gathered, r(f), p(f), q(f);
  for (uint32_t row = 0; row < job.count(2); row++) {
    const uint32_t start = job.ints(0)[row], count = job.ints(0)[row + 1] - start;
    float* x = job.floats(3) + size_t(row) * f;
    gathered.resize(std::max(gathered.size(), size_t(count) * f));
    for (uint32_t e = 0; e < count; e++)
      memcpy(&gathered[size_t(e) * f], job.floats(4) + size_t(job.ints(1)[start + e]) * f, f * 4);
    const float regularization = job.floats(8)[row];
    apply(gathered.data(), count, job.floats(5), f, -unobserved, -regularization, 1, -1, x, r.data());
    p = r;
    float square = dot(r.data(), r.data(), f);
    for (uint32_t step = 0; step < steps && square > 1e-20f; step++) {
      apply(gathered.data(), count, job.floats(5), f, unobserved, regularization, 0, 1, p.data(), q.data());
      const float length = square / dot(p.data(), q.data(), f);
      for (uint32_t i = 0; i < f; i++) x[i] += length * p[i], r[i] -= length * q[i];
      const float next = dot(r.data(), r.data(), f);
      for (uint32_t i = 0; i < f; i++) p[i] = r[i] + next / square * p[i];
      square = next;
    }
  }
}
