// queries rows panels items f k outItems outScores
#include "harness.h"

void run(Job& job) {
  const uint32_t rows = job.count(1), items = job.count(3), f = job.count(4), k = job.count(5);
  const uint32_t panels = (items + 7) / 8, chunk = std::max(1u, (1u << 19) / (f * 32));
  std::vector<float> packed(size_t(64) * f);
  for (uint32_t block = 0; block < rows; block += 64) {
    const uint32_t count = std::min(64u, rows - block);
    std::fill(packed.begin(), packed.end(), 0.0f);
    for (uint32_t u = 0; u < count; u++)
      for (uint32_t x = 0; x < f; x++)
        packed[(u / 4 * size_t(f) + x) * 4 + u % 4] = job.floats(0)[(block + u) * size_t(f) + x];
    std::vector<Best> best(count, Best(k));
    for (uint32_t first = 0; first < panels; first += chunk)
      for (uint32_t group = 0; group < count; group += 4)
        for (uint32_t p = first; p < std::min(panels, first + chunk); p++) {
          const float* query = &packed[group * size_t(f)];
          const Lanes* panel = reinterpret_cast<const Lanes*>(job.floats(2) + size_t(p) * f * 8);
          Lanes sums[4] = {};
          for (uint32_t x = 0; x < f; x++) {
#pragma GCC unroll 4
            for (int u = 0; u < 4; u++) sums[u] += query[x * 4 + u] * panel[x];
          }
          for (uint32_t u = 0; u < std::min(4u, count - group); u++) {
            Best& list = best[group + u];
            const float threshold = list.threshold();
            int hits = 0;
            for (int lane = 0; lane < 8; lane++) hits |= sums[u][lane] > threshold;
            if (!hits) continue;
            for (uint32_t lane = 0; lane < 8 && p * 8 + lane < items; lane++)
              if (sums[u][lane] > list.threshold()) list.offer(sums[u][lane], p * 8 + lane);
          }
        }
    for (uint32_t u = 0; u < count; u++)
      best[u].write(job.ints(6) + size_t(block + u) * k, job.floats(7) + size_t(block + u) * k);
  }
}
