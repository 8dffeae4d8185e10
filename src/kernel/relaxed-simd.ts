import { setFlagsFromString } from 'node:v8';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';

/** `auto` takes relaxed SIMD where the runtime has it, `off` never does. */
export type RelaxedSimd = 'auto' | 'off';

const KEY = 'furze:relaxed-simd';

/**
 * Decides for this thread and all that it starts from now on. Node.js 20 has relaxed SIMD behind a flag, which `auto`
 * sets; it must come before any kernels are compiled.
 */
export function chooseRelaxedSimd(choice: RelaxedSimd): void {
  setEnvironmentData(KEY, choice);
  // A newer version has it always and complains of the flag.
  if (choice === 'auto' && process.versions.node.startsWith('20.'))
    setFlagsFromString('--experimental-wasm-relaxed-simd');
}

/** Permission to take relaxed SIMD where there is some; `auto` until chosen otherwise. */
export function allowsRelaxedSimd(): boolean {
  return getEnvironmentData(KEY) !== 'off';
}
