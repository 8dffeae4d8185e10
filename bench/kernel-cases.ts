import {
  alsCholesky,
  alsSpectral,
  choleskySolve,
  eigen,
  gramian,
  normalMatrix,
  rotation,
} from './kernels/als-cases.ts';
import type { CaseMaker } from './kernels/kernel-case.ts';
import { factorizationScores, factorizationTraining } from './kernels/learning-cases.ts';
import { batchTopK, neighbors, queryTopK, rowSums, topSums } from './kernels/top-k-cases.ts';
import {
  addScaled,
  countNonFinite,
  dot,
  nearestBytes,
  packCoarse,
  packPanels,
  scanBytes,
  scoreItems,
} from './kernels/vector-cases.ts';

export type { KernelCase } from './kernels/kernel-case.ts';

/** A row or more for every kernel of the interface. */
export const KERNEL_CASES: readonly CaseMaker[] = [
  batchTopK,
  queryTopK(false),
  queryTopK(true),
  gramian,
  normalMatrix,
  choleskySolve,
  alsSpectral(64),
  alsSpectral(128),
  eigen(64),
  rotation,
  alsCholesky,
  factorizationScores,
  factorizationTraining,
  neighbors,
  rowSums,
  topSums,
  dot,
  addScaled,
  countNonFinite,
  scoreItems,
  scanBytes,
  nearestBytes,
  packPanels,
  packCoarse,
];
