// scores items k outItems outScores
#include "harness.h"

void run(Job& job) {
  Best best(job.count(2));
  const float* scores = job.floats(0);
  for (uint32_t item = 0, items = job.count(1); item < items; item++)
    if (scores[item] > best.threshold()) best.offer(scores[item], item);
  best.write(job.ints(3), job.floats(4));
}
