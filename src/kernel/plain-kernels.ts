import type { Kernels } from './kernels.ts';
import { plainAlsKernels } from './plain-als.ts';
import { plainEigenKernels } from './plain-eigen.ts';
import { plainLearningKernels } from './plain-learning.ts';
import { plainTopKKernels } from './plain-top-k.ts';
import { plainVectorKernels } from './plain-vector.ts';
import type { Words } from './words.ts';

/**
 * The kernels in plain TypeScript, over the same bytes: the oracle of the tests, the kernels' documentation, and the
 * fallback where WebAssembly cannot be had. Sums are taken in double precision; results agree with WASM to float32's.
 */
export function instantiatePlainKernels(memory: WebAssembly.Memory): Kernels {
  const words: Words = { floats: new Float32Array(memory.buffer), ints: new Uint32Array(memory.buffer) };
  return {
    name: 'plain',
    ...plainVectorKernels(words),
    ...plainTopKKernels(words),
    ...plainAlsKernels(words),
    ...plainEigenKernels(words),
    ...plainLearningKernels(words),
  };
}
