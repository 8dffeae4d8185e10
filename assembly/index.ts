// Everything here takes addresses and counts, allocates nothing and owns nothing; src/kernel/kernels.ts documents it.
export { dot, addScaled, countNonFinite, scoreItems } from './vector';
export { gramian } from './gramian';
export { packPanels, batchTopK } from './batch-top-k';
export { packCoarse } from './quantized-panels';
export { queryTopK } from './query-top-k';
export { choleskySolve } from './cholesky';
export { normalMatrix } from './normal-matrix';
export { alsSpectralRows } from './als-conjugate-gradient';
export { symmetricEigen } from './symmetric-eigen';
export { rotateRows } from './rotate-rows';
export { alsCholeskyRows } from './als-cholesky';
export { fmScoreRows, fmAdaGradRows } from './factorization-machine';
export { neighborTopK } from './neighbor-top-k';
export { prunedNeighborTopK } from './pruned-neighbors';
export { scanBytes, nearestBytes } from './byte-vectors';
export { sumRows, topSums } from './row-sums';
