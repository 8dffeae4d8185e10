// starts columns endRow target source spectrum f unobservedWeight regularizations steps
#include "harness.h"

static float dot(const float* a, const float* b, uint32_t f) {
  float sum = 0;
  for (uint32_t i = 0; i < f; i++) sum += a[i] * b[i];
  return sum;
}

// out += (offset + sign s.v) s over the rows
static void apply(const float* gathered, uint32_t count, uint32_t f, float offset, float sign, const float* v, float* out) {
  for (uint32_t e = 0; e < count; e++) {
    const float* s = gathered + size_t(e) * f;
    const float factor = offset + sign * dot(s, v, f);
    for (uint32_t i = 0; i < f; i++) out[i] += factor * s[i];
  }
}

void run(Job& job) {
  const uint32_t f = job.count(6), steps = job.count(9);
  std::vector<float> gathered, d(f), r(f), z(f), p(f), q(f);
  for (uint32_t row = 0; row < job.count(2); row++) {
    const uint32_t start = job.ints(0)[row], count = job.ints(0)[row + 1] - start;
    float* x = job.floats(3) + size_t(row) * f;
    gathered.resize(std::max(gathered.size(), size_t(count) * f));
    for (uint32_t e = 0; e < count; e++)
      memcpy(&gathered[size_t(e) * f], job.floats(4) + size_t(job.ints(1)[start + e]) * f, f * 4);
    for (uint32_t i = 0; i < f; i++) d[i] = job.number(7) * job.floats(5)[i] + job.floats(8)[row], r[i] = -d[i] * x[i];
    apply(gathered.data(), count, f, 1, -1, x, r.data());
    for (uint32_t i = 0; i < f; i++) p[i] = r[i] / d[i];
    float square = dot(r.data(), p.data(), f);
    for (uint32_t step = 0; step < steps && square > 1e-20f; step++) {
      for (uint32_t i = 0; i < f; i++) q[i] = d[i] * p[i];
      apply(gathered.data(), count, f, 0, 1, p.data(), q.data());
      const float length = square / dot(p.data(), q.data(), f);
      for (uint32_t i = 0; i < f; i++) x[i] += length * p[i], r[i] -= length * q[i], z[i] = r[i] / d[i];
      const float next = dot(r.data(), z.data(), f);
      for (uint32_t i = 0; i < f; i++) p[i] = z[i] + next / square * p[i];
      square = next;
    }
  }
}
