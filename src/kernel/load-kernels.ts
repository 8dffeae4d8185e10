import { existsSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { OperatorError } from '../domain/operator-error.ts';
import type { Kernels } from './kernels.ts';
import { instantiateWasmKernels, supportsRelaxed, type WasmBuild, wasmUrl } from './wasm-kernels.ts';

/**
 * Which build a thread asks for. `auto` takes the relaxed one where the engine has relaxed SIMD and nobody chose otherwise
 * (`chooseRelaxedSimd`).
 */
export type KernelChoice = 'auto' | 'wasm' | 'wasm-relaxed' | 'wasm-debug';

const BUILDS: Readonly<Record<Exclude<KernelChoice, 'auto'>, WasmBuild>> = {
  wasm: 'release',
  'wasm-relaxed': 'relaxed',
  'wasm-debug': 'debug',
};

/**
 * The kernels over `memory`; each thread makes its own instance. All builds work on the same bytes, so threads may differ
 * in their choice; the last bits of sums then differ.
 * @throws Error when the build cannot be loaded
 */
export function loadKernels(memory: WebAssembly.Memory, choice: KernelChoice = 'auto'): Kernels {
  return instantiateWasmKernels(memory, BUILDS[choice === 'auto' ? automaticChoice() : choice]);
}

/** Choice behind `auto`, the same in all threads of a process. @throws OperatorError when the kernels are not there */
export function automaticChoice(): 'wasm' | 'wasm-relaxed' {
  if (getEnvironmentData(KEY) !== 'off' && supportsRelaxed()) return 'wasm-relaxed';
  if (existsSync(wasmUrl('release'))) return 'wasm';
  throw new OperatorError('build/kernels.wasm is missing: install furze again, or run "npm run build:wasm".');
}

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
