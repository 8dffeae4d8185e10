// What every C++ twin shares: the memory the TypeScript side prepared is read from a file, the job's numbers come as
// arguments, and each line on standard input runs the job once and answers with its milliseconds.
#pragma once
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

// Eight float32 lanes; g++ maps them to AVX registers where the machine has them.
typedef float Lanes __attribute__((vector_size(32), aligned(4)));

// sums[u][0..1] += left[r * leftStride + u] * right[r * rightStride + 0..15] over `count` rows: 8 accumulators of 8.
inline void tile(const float* left, size_t leftStride, const float* right, size_t rightStride, uint32_t count,
                 Lanes (&sums)[4][2]) {
  for (uint32_t r = 0; r < count; r++, left += leftStride, right += rightStride) {
    const Lanes low = *reinterpret_cast<const Lanes*>(right), high = *reinterpret_cast<const Lanes*>(right + 8);
#pragma GCC unroll 4
    for (int u = 0; u < 4; u++) sums[u][0] += left[u] * low, sums[u][1] += left[u] * high;
  }
}

// matrix += X'X of `count` rows on and above the diagonal, f a multiple of 16.
inline void addProducts(const float* x, uint32_t count, uint32_t f, float* matrix) {
  for (uint32_t i = 0; i < f; i += 4)
    for (uint32_t j = i & ~15u; j < f; j += 16) {
      Lanes sums[4][2] = {};
      tile(x + i, f, x + j, f, count, sums);
      for (int u = 0; u < 4; u++)
        for (int half = 0; half < 2; half++)
          *reinterpret_cast<Lanes*>(matrix + (i + u) * f + j + half * 8) += sums[u][half];
    }
}

// Solves a x = b, the upper triangle of a being read; b becomes x.
inline void choleskySolve(float* a, float* b, uint32_t f) {
  for (uint32_t k = 0; k < f; k++) {
    const float inverse = 1 / sqrtf(a[k * f + k]);
    for (uint32_t j = k; j < f; j++) a[k * f + j] *= inverse;
    for (uint32_t i = k + 1; i < f; i++) {
      const float factor = a[k * f + i];
      for (uint32_t j = i; j < f; j++) a[i * f + j] -= factor * a[k * f + j];
    }
  }
  for (uint32_t k = 0; k < f; k++) {
    b[k] /= a[k * f + k];
    for (uint32_t j = k + 1; j < f; j++) b[j] -= b[k] * a[k * f + j];
  }
  for (int k = f - 1; k >= 0; k--) {
    for (uint32_t j = k + 1; j < f; j++) b[k] -= a[k * f + j] * b[j];
    b[k] /= a[k * f + k];
  }
}

struct Job {
  std::vector<char> memory;
  std::vector<double> numbers;
  float* floats(int i) { return reinterpret_cast<float*>(memory.data() + static_cast<uint64_t>(numbers[i])); }
  uint32_t* ints(int i) { return reinterpret_cast<uint32_t*>(memory.data() + static_cast<uint64_t>(numbers[i])); }
  uint32_t count(int i) const { return static_cast<uint32_t>(numbers[i]); }
  float number(int i) const { return static_cast<float>(numbers[i]); }
};

// Score descending, ties to the lower item: a heap whose front is the worst kept.
struct Best {
  std::vector<std::pair<float, uint32_t>> kept;
  size_t k;
  explicit Best(size_t k) : k(k) { kept.reserve(k); }
  static bool better(const std::pair<float, uint32_t>& a, const std::pair<float, uint32_t>& b) {
    return a.first > b.first || (a.first == b.first && a.second < b.second);
  }
  float threshold() const { return kept.size() < k ? -INFINITY : kept.front().first; }
  void offer(float score, uint32_t item) {
    if (kept.size() == k) {
      std::pop_heap(kept.begin(), kept.end(), better);
      kept.pop_back();
    }
    kept.emplace_back(score, item);
    std::push_heap(kept.begin(), kept.end(), better);
  }
  void write(uint32_t* items, float* scores) {
    std::sort(kept.begin(), kept.end(), better);
    for (size_t i = 0; i < kept.size(); i++) {
      items[i] = kept[i].second;
      scores[i] = kept[i].first;
    }
  }
};

void run(Job& job);

int main(int argc, char** argv) {
  Job job;
  FILE* file = fopen(argv[1], "rb");
  if (!file) return 1;
  fseek(file, 0, SEEK_END);
  job.memory.resize(ftell(file));
  fseek(file, 0, SEEK_SET);
  if (fread(job.memory.data(), 1, job.memory.size(), file) != job.memory.size()) return 1;
  fclose(file);
  for (int i = 2; i < argc; i++) job.numbers.push_back(atof(argv[i]));
  for (int c = getchar(); c != EOF; c = getchar()) {
    auto start = std::chrono::steady_clock::now();
    run(job);
    std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    printf("%.6f\n", took.count());
    fflush(stdout);
  }
}
