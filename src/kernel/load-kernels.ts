import { existsSync } from 'node:fs';
import type { Kernels } from './kernels.ts';
import { instantiatePlainKernels } from './plain-kernels.ts';
import { instantiateWasmKernels, wasmUrl } from './wasm-kernels.ts';

/** Which implementation a thread asks for; `auto` takes WASM when its binary was built. */
export type KernelChoice = 'auto' | 'wasm' | 'wasm-debug' | 'plain';

/**
 * The kernels over `memory`; each thread makes its own instance. Both implementations work on the same bytes, so
 * threads may differ in their choice.
 * @throws Error when WASM was asked for by name and cannot be loaded
 */
export function loadKernels(memory: WebAssembly.Memory, choice: KernelChoice = 'auto'): Kernels {
  if (choice === 'plain') return instantiatePlainKernels(memory);
  if (choice === 'auto' && !existsSync(wasmUrl('release'))) return instantiatePlainKernels(memory);
  return instantiateWasmKernels(memory, choice === 'wasm-debug' ? 'debug' : 'release');
}
