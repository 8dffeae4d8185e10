// Eigenvectors of a symmetric positive semidefinite matrix: Householder's reduction to tridiagonal form, then QL with
// implicit shifts (Golub and Van Loan, Matrix Computations, sections 8.3.1 and 8.3.3; the second as in EISPACK's tql2).
// In float64, since the many rotations add up; every loop runs along rows, which is why the vectors are kept transposed
// until the end.
//
// Scratch, float64: matrix, f x f | transposed vectors, f x f | diagonal | subdiagonal | betas | products, f each.

/** Subdiagonals below this part of the largest entry count as zero: far below what float32 can tell. */
const TINY: f64 = 1e-13;
const ITERATIONS_MAX: u32 = 60;

/** Inner product of two float64 vectors. */
function dot64(a: usize, b: usize, n: u32): f64 {
  let sums = f64x2.splat(0);
  let sums2 = f64x2.splat(0);
  let i: u32 = 0;
  for (; i + 4 <= n; i += 4, a += 32, b += 32) {
    sums = f64x2.add(sums, f64x2.mul(v128.load(a), v128.load(b)));
    sums2 = f64x2.add(sums2, f64x2.mul(v128.load(a, 16), v128.load(b, 16)));
  }
  sums = f64x2.add(sums, sums2);
  let sum = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
  for (; i < n; i++, a += 8, b += 8) sum += load<f64>(a) * load<f64>(b);
  return sum;
}

/** target += p * a + q * b, float64. */
function addTwo64(target: usize, p: f64, a: usize, q: f64, b: usize, n: u32): void {
  const ps = f64x2.splat(p);
  const qs = f64x2.splat(q);
  let i: u32 = 0;
  for (; i + 2 <= n; i += 2, target += 16, a += 16, b += 16) {
    const sum = f64x2.add(f64x2.mul(ps, v128.load(a)), f64x2.mul(qs, v128.load(b)));
    v128.store(target, f64x2.add(v128.load(target), sum));
  }
  if (i < n) store<f64>(target, load<f64>(target) + p * load<f64>(a) + q * load<f64>(b));
}

/** [a b] = [c a - s b, s a + c b] along two float64 rows. */
function rotate64(a: usize, b: usize, c: f64, s: f64, n: u32): void {
  const cs = f64x2.splat(c);
  const ss = f64x2.splat(s);
  let i: u32 = 0;
  for (; i + 2 <= n; i += 2, a += 16, b += 16) {
    const x = v128.load(a);
    const y = v128.load(b);
    v128.store(a, f64x2.sub(f64x2.mul(cs, x), f64x2.mul(ss, y)));
    v128.store(b, f64x2.add(f64x2.mul(ss, x), f64x2.mul(cs, y)));
  }
  if (i == n) return;
  const x = load<f64>(a);
  const y = load<f64>(b);
  store<f64>(a, c * x - s * y);
  store<f64>(b, s * x + c * y);
}

/** Leaves the reflections' vectors in the rows of `a`, right of the diagonal. */
function tridiagonalize(a: usize, n: u32, rowBytes: usize, d: usize, e: usize, betas: usize, products: usize): void {
  for (let k: u32 = 0; k < n; k++) {
    const at = <usize>k << 3;
    const row = a + <usize>k * rowBytes + at;
    const rest = n - k - 1;
    store<f64>(d + at, load<f64>(row));
    store<f64>(betas + at, 0);
    store<f64>(e + at, rest > 0 ? load<f64>(row, 8) : 0);
    if (rest < 2) continue;
    const v = row + 8;
    const square = dot64(v, v, rest);
    const first = load<f64>(v);
    if (square - first * first <= 0) continue;
    const alpha = first > 0 ? -sqrt(square) : sqrt(square);
    store<f64>(e + at, alpha);
    store<f64>(v, first - alpha);
    const beta = 1 / (square - first * alpha);
    store<f64>(betas + at, beta);
    const corner = row + rowBytes + 8;
    for (let i: u32 = 0; i < rest; i++) {
      store<f64>(products + (<usize>i << 3), beta * dot64(corner + <usize>i * rowBytes, v, rest));
    }
    const half = -0.5 * beta * dot64(products, v, rest);
    addTwo64(products, half, v, 0, v, rest);
    for (let i: u32 = 0; i < rest; i++) {
      const place = <usize>i << 3;
      const ofV = -load<f64>(products + place);
      addTwo64(corner + <usize>i * rowBytes, ofV, v, -load<f64>(v + place), products, rest);
    }
  }
}

/** Multiplies the reflections together: z becomes the transposed basis in which the matrix is tridiagonal. */
function accumulate(a: usize, z: usize, n: u32, rowBytes: usize, betas: usize): void {
  for (let i: u32 = 0; i < n; i++) store<f64>(z + <usize>i * (rowBytes + 8), 1);
  for (let k: i32 = <i32>n - 3; k >= 0; k--) {
    const beta = load<f64>(betas + (<usize>k << 3));
    if (beta == 0) continue;
    const rest = n - k - 1;
    const offset = <usize>(k + 1) << 3;
    const v = a + <usize>k * rowBytes + offset;
    for (let i: u32 = k + 1; i < n; i++) {
      const row = z + <usize>i * rowBytes + offset;
      addTwo64(row, -beta * dot64(row, v, rest), v, 0, v, rest);
    }
  }
}

/** Eigenvalues into d, rotations applied to the rows of z. @returns false when it does not converge */
function diagonalize(d: usize, e: usize, z: usize, n: u32, rowBytes: usize): bool {
  let shifts: f64 = 0;
  let largest: f64 = 0;
  for (let l: u32 = 0; l < n; l++) {
    const dl = d + (<usize>l << 3);
    const el = e + (<usize>l << 3);
    largest = max(largest, abs(load<f64>(dl)) + abs(load<f64>(el)));
    const bound = TINY * largest;
    let m = l;
    while (m < n - 1 && abs(load<f64>(e + (<usize>m << 3))) > bound) m++;
    let iterations: u32 = 0;
    while (m > l && !(abs(load<f64>(el)) <= bound)) {
      if (++iterations > ITERATIONS_MAX) return false;
      let g = load<f64>(dl);
      const ratio = (load<f64>(dl, 8) - g) / (2 * load<f64>(el));
      const root = ratio < 0 ? -sqrt(ratio * ratio + 1) : sqrt(ratio * ratio + 1);
      store<f64>(dl, load<f64>(el) / (ratio + root));
      const next = load<f64>(el) * (ratio + root);
      store<f64>(dl, next, 8);
      const shift = g - load<f64>(dl);
      for (let i = l + 2; i < n; i++) {
        const at = d + (<usize>i << 3);
        store<f64>(at, load<f64>(at) - shift);
      }
      shifts += shift;
      const after = load<f64>(el, 8);
      let p = load<f64>(d + (<usize>m << 3));
      let c: f64 = 1;
      let c2: f64 = 1;
      let c3: f64 = 1;
      let s: f64 = 0;
      let s2: f64 = 0;
      for (let i: i32 = <i32>m - 1; i >= <i32>l; i--) {
        const di = d + (<usize>i << 3);
        const ei = e + (<usize>i << 3);
        c3 = c2;
        c2 = c;
        s2 = s;
        g = c * load<f64>(ei);
        const h = c * p;
        const r = sqrt(p * p + load<f64>(ei) * load<f64>(ei));
        store<f64>(ei, s * r, 8);
        s = load<f64>(ei) / r;
        c = p / r;
        p = c * load<f64>(di) - s * g;
        store<f64>(di, h + s * (c * g + s * load<f64>(di)), 8);
        const row = z + <usize>i * rowBytes;
        rotate64(row, row + rowBytes, c, s, n);
      }
      p = (-s * s2 * c3 * after * load<f64>(el)) / next;
      store<f64>(el, s * p);
      store<f64>(dl, c * p);
    }
    store<f64>(dl, load<f64>(dl) + shifts);
    store<f64>(el, 0);
  }
  return true;
}

export function symmetricEigen(matrix: usize, f: u32, values: usize, vectors: usize, scratch: usize): u32 {
  assert((f & 3) == 0 && !(scratch & 7));
  const rowBytes = <usize>f << 3;
  const size = rowBytes * f;
  const a = scratch;
  const z = a + size;
  const d = z + size;
  const e = d + rowBytes;
  const betas = e + rowBytes;
  const products = betas + rowBytes;
  // Columns of zeros at the end are the padding: they stay as they are, so that factors keep zero there.
  let n = f;
  while (n > 0 && load<f32>(matrix + ((<usize>(n - 1) * (f + 1)) << 2)) == 0) n--;
  for (let i: usize = 0; i < <usize>f * f; i++) store<f64>(a + (i << 3), <f64>load<f32>(matrix + (i << 2)));
  memory.fill(z, 0, size);
  tridiagonalize(a, n, rowBytes, d, e, betas, products);
  accumulate(a, z, n, rowBytes, betas);
  if (!diagonalize(d, e, z, n, rowBytes)) return 0;
  for (let i = n; i < f; i++) {
    store<f64>(d + (<usize>i << 3), 0);
    store<f64>(z + <usize>i * (rowBytes + 8), 1);
  }
  for (let i: usize = 0; i < <usize>f; i++) {
    const value = load<f64>(d + (i << 3));
    if (!(abs(value) < Infinity)) return 0;
    store<f32>(values + (i << 2), <f32>max<f64>(value, 0));
    for (let j: usize = 0; j < <usize>f; j++) {
      store<f32>(vectors + ((j * f + i) << 2), <f32>load<f64>(z + i * rowBytes + (j << 3)));
    }
  }
  return 1;
}
