import { existsSync } from 'node:fs';
import type { Kernels } from './kernels.ts';
import { instantiatePlainKernels } from './plain-kernels.ts';
import { allowsRelaxedSimd } from './relaxed-simd.ts';
import { instantiateWasmKernels, supportsRelaxed, type WasmBuild, wasmUrl } from './wasm-kernels.ts';

/**
 * Which implementation a thread asks for. `auto` takes WASM when its binary was built, and of its builds the relaxed one
 * where the engine has relaxed SIMD and nobody chose otherwise (`chooseRelaxedSimd`).
 */
export type KernelChoice = 'auto' | 'wasm' | 'wasm-relaxed' | 'wasm-debug' | 'plain';

const BUILDS: Readonly<Record<Exclude<KernelChoice, 'auto' | 'plain'>, WasmBuild>> = {
  wasm: 'release',
  'wasm-relaxed': 'relaxed',
  'wasm-debug': 'debug',
};

/**
 * The kernels over `memory`; each thread makes its own instance. All implementations work on the same bytes, so
 * threads may differ in their choice; the last bits of sums then differ.
 * @throws Error when WASM was asked for by name and cannot be loaded
 */
export function loadKernels(memory: WebAssembly.Memory, choice: KernelChoice = 'auto'): Kernels {
  const chosen = choice === 'auto' ? automaticChoice() : choice;
  return chosen === 'plain'
    ? instantiatePlainKernels(memory)
    : instantiateWasmKernels(memory, BUILDS[chosen]);
}

/** What `auto` comes to, the same in all threads of a process. */
export function automaticChoice(): 'wasm' | 'wasm-relaxed' | 'plain' {
  if (allowsRelaxedSimd() && supportsRelaxed()) return 'wasm-relaxed';
  return existsSync(wasmUrl('release')) ? 'wasm' : 'plain';
}
