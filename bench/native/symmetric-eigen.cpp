// matrix f values vectors; Householder and implicit QL (EISPACK's tred2 and tql2) over transposed vectors
#include "harness.h"

void run(Job& job) {
  const int n = job.count(1);
  std::vector<double> a(n * n), z(n * n, 0.0), d(n), e(n, 0.0), betas(n, 0.0), p(n);
  for (int i = 0; i < n * n; i++) a[i] = job.floats(0)[i];
  for (int i = 0; i < n; i++) z[i * n + i] = 1;
  for (int k = 0; k < n; k++) {
    double* v = &a[k * n];
    d[k] = v[k];
    if (k + 1 < n) e[k] = v[k + 1];
    double square = 0;
    for (int i = k + 1; i < n; i++) square += v[i] * v[i];
    if (k + 2 >= n || square - v[k + 1] * v[k + 1] <= 0) continue;
    const double alpha = v[k + 1] > 0 ? -sqrt(square) : sqrt(square), beta = 1 / (square - v[k + 1] * alpha);
    e[k] = alpha, v[k + 1] -= alpha, betas[k] = beta;
    double half = 0;
    for (int i = k + 1; i < n; i++) {
      p[i] = 0;
      for (int j = k + 1; j < n; j++) p[i] += beta * a[i * n + j] * v[j];
      half += 0.5 * beta * p[i] * v[i];
    }
    for (int i = k + 1; i < n; i++) p[i] -= half * v[i];
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j < n; j++) a[i * n + j] -= v[i] * p[j] + p[i] * v[j];
  }
  for (int k = n - 3; k >= 0; k--)
    for (int i = k + 1; i < n; i++) {
      double sum = 0;
      for (int j = k + 1; j < n; j++) sum += z[i * n + j] * a[k * n + j];
      for (int j = k + 1; j < n; j++) z[i * n + j] -= betas[k] * sum * a[k * n + j];
    }
  double shifts = 0, largest = 0;
  for (int l = 0; l < n; l++) {
    largest = std::max(largest, fabs(d[l]) + fabs(e[l]));
    int m = l;
    while (m < n - 1 && fabs(e[m]) > 1e-13 * largest) m++;
    while (m > l && fabs(e[l]) > 1e-13 * largest) {
      double g = d[l], ratio = (d[l + 1] - g) / (2 * e[l]), root = copysign(sqrt(ratio * ratio + 1), ratio);
      d[l] = e[l] / (ratio + root);
      const double next = d[l + 1] = e[l] * (ratio + root), shift = g - d[l], after = e[l + 1];
      for (int i = l + 2; i < n; i++) d[i] -= shift;
      shifts += shift;
      double q = d[m], c = 1, c2 = 1, c3 = 1, s = 0, s2 = 0;
      for (int i = m - 1; i >= l; i--) {
        c3 = c2, c2 = c, s2 = s, g = c * e[i];
        const double h = c * q, r = sqrt(q * q + e[i] * e[i]);
        e[i + 1] = s * r, s = e[i] / r, c = q / r, q = c * d[i] - s * g, d[i + 1] = h + s * (c * g + s * d[i]);
        double *x = &z[i * n], *y = x + n;
        for (int k = 0; k < n; k++) {
          const double xk = x[k];
          x[k] = c * xk - s * y[k], y[k] = s * xk + c * y[k];
        }
      }
      q = -s * s2 * c3 * after * e[l] / next, e[l] = s * q, d[l] = c * q;
    }
    d[l] += shifts, e[l] = 0;
  }
  for (int i = 0; i < n; i++) {
    job.floats(2)[i] = d[i];
    for (int j = 0; j < n; j++) job.floats(3)[j * n + i] = z[i * n + j];
  }
}
