import type { Kernels } from '../../src/kernel/kernels.ts';
import { plainAlsKernels } from './als.ts';
import { plainByteKernels } from './byte-vectors.ts';
import { plainEigenKernels } from './eigen.ts';
import { plainLearningKernels } from './learning.ts';
import { plainSumKernels } from './row-sums.ts';
import { plainTopKKernels } from './top-k.ts';
import { plainVectorKernels } from './vector.ts';
import { wordsOf } from './words.ts';

/**
 * The kernels in plain TypeScript, over the same bytes: the oracle of the tests and the kernels' documentation. Sums are taken in double precision; results agree with WASM to float32's.
 */
export function instantiatePlainKernels(memory: WebAssembly.Memory): Kernels {
  const words = wordsOf(memory);
  return {
    name: 'plain',
    ...plainVectorKernels(words),
    ...plainTopKKernels(words),
    ...plainAlsKernels(words),
    ...plainEigenKernels(words),
    ...plainLearningKernels(words),
    ...plainSumKernels(words),
    ...plainByteKernels(memory),
  };
}
