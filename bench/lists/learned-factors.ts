import type { Random } from '../../src/domain/random.ts';

/**
 * Shapes of 64 factors that ALS of the default settings learned from two sets (eight epochs): norms of items as parts of
 * the largest at shares of the catalogue, and shares of the eigenvalues of the items' Gramian at their numbers.
 */
const SHAPES = {
  movietweetings: {
    norms: [
      [0, 1],
      [0.001, 0.803],
      [0.003, 0.593],
      [0.01, 0.343],
      [0.03, 0.165],
      [0.1, 0.079],
      [0.2, 0.048],
      [0.3, 0.036],
      [0.5, 0.022],
      [0.7, 0.012],
      [0.9, 0.004],
      [1, 0],
    ],
    spectrum: [
      [0, 0.149],
      [1, 0.063],
      [2, 0.043],
      [5, 0.029],
      [9, 0.019],
      [15, 0.015],
      [40, 0.01],
      [63, 0.005],
    ],
  },
  retail: {
    norms: [
      [0, 1],
      [0.003, 0.864],
      [0.01, 0.8],
      [0.03, 0.747],
      [0.1, 0.656],
      [0.2, 0.564],
      [0.3, 0.492],
      [0.5, 0.356],
      [0.7, 0.215],
      [0.9, 0.09],
      [1, 0.04],
    ],
    spectrum: [
      [0, 0.091],
      [1, 0.037],
      [2, 0.032],
      [5, 0.024],
      [9, 0.02],
      [15, 0.016],
      [40, 0.0115],
      [63, 0.01],
    ],
  },
  // The worst case for bounds: all norms and all directions alike.
  equal: {
    norms: [
      [0, 1],
      [1, 1],
    ],
    spectrum: [
      [0, 1],
      [63, 1],
    ],
  },
} as const;

export type FactorShape = keyof typeof SHAPES;

export function isFactorShape(name: string): name is FactorShape {
  return Object.hasOwn(SHAPES, name);
}

function between(points: readonly (readonly [number, number])[], at: number): number {
  const next = Math.max(
    1,
    points.findIndex(([x]) => x >= at),
  );
  const [[x0, y0], [x1, y1]] = [points[next - 1]!, points[next]!];
  return y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
}

/** Rows of f factors of such a shape, the longest first; `largest` is the first one's norm. Users' norms are all that. */
export function learnedFactors(
  shape: FactorShape,
  { rows, f, largest, of }: { rows: number; f: number; largest: number; of: 'items' | 'users' },
  random: Random,
): Float32Array {
  const { norms, spectrum } = SHAPES[shape];
  const shares = Array.from({ length: f }, (_, at) => between(spectrum, Math.min(63, at)));
  const total = shares.reduce((sum, share) => sum + share);
  const spreads = shares.map((share) => Math.sqrt(share / total));
  const factors = new Float32Array(rows * f);
  for (let row = 0; row < rows; row++) {
    const norm = largest * (of === 'users' ? 1 : between(norms, row / rows));
    for (let at = 0; at < f; at++) factors[row * f + at] = norm * spreads[at]! * random.normal();
  }
  return factors;
}
