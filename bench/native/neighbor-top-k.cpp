// starts columns otherStarts otherColumns norms shrink rows endRow k outRows outScores
#include "harness.h"

void run(Job& job) {
  const uint32_t rows = job.count(6), k = job.count(8);
  std::vector<float> sums(rows);
  for (uint32_t row = 0; row < job.count(7); row++) {
    for (uint32_t e = job.ints(0)[row]; e < job.ints(0)[row + 1]; e++) {
      const uint32_t column = job.ints(1)[e];
      for (uint32_t o = job.ints(2)[column]; o < job.ints(2)[column + 1]; o++) sums[job.ints(3)[o]] += 1;
    }
    sums[row] = 0;
    Best best(k);
    const float norm = job.floats(4)[row];
    for (uint32_t s = 0; s < rows; s++) {
      const float score = sums[s] / (norm * job.floats(4)[s] + job.number(5));
      if (score > 0 && score > best.threshold()) best.offer(score, s);
      sums[s] = 0;
    }
    best.write(job.ints(9) + size_t(row) * k, job.floats(10) + size_t(row) * k);
  }
}
