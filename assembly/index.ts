// Everything here takes addresses and counts, allocates nothing and owns nothing; src/kernel/kernels.ts documents it.
export { dot, addScaled, countNonFinite, scoreItems } from './vector';
export { gramian } from './gramian';
export { packPanels, batchTopK } from './batch-top-k';
export { packCoarse } from './quantized-panels';
export { queryTopK } from './query-top-k';
export { normalMatrix, choleskySolve } from './cholesky';
export { alsSpectralRows } from './als-conjugate-gradient';
export { symmetricEigen } from './eigen';
export { rotateRows } from './rotate';
export { alsCholeskyRows } from './als-cholesky';
export { fmScoreRows, fmAdaGradRows } from './factorization-machine';
export { neighborTopK } from './neighbor';
export { sumRows, topSums } from './row-sums';
