import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import {
  compileKernels,
  instantiateWasmKernels,
  supportsRelaxed,
  wasmUrl,
} from '../../src/kernel/wasm-kernels.ts';
import { createSharedMemory, u8 } from '../../src/memory/shared-memory.ts';

const DATA_SECTION = 11;
const START_SECTION = 8;

/** The ids of a binary's sections (WebAssembly core specification, 5.5.2). */
function sectionIds(bytes: Uint8Array): number[] {
  const ids: number[] = [];
  let at = 8;
  while (at < bytes.length) {
    ids.push(bytes[at++]!);
    let size = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      size += (byte & 127) * 2 ** shift;
      if (byte < 128) break;
    }
    at += size;
  }
  return ids;
}

describe.each(['release', 'debug'] as const)('the %s binary', (build) => {
  test('has no data and no start section: an instance writes nothing into the memory it joins', () => {
    const ids = sectionIds(readFileSync(wasmUrl(build)));
    expect(ids).not.toContain(DATA_SECTION);
    expect(ids).not.toContain(START_SECTION);
    const memory = createSharedMemory(1 << 20);
    u8(memory, 0, 1 << 20).fill(0x5a);
    loadKernels(memory, build === 'release' ? 'wasm' : 'wasm-debug');
    expect(u8(memory, 0, 1 << 20).every((byte) => byte === 0x5a)).toBe(true);
  });

  test('is compiled once a thread', () => {
    expect(compileKernels(build)).toBe(compileKernels(build));
  });
});

test('a binary of other sources is refused by the names of what does not fit', () => {
  // (module (func (export "dot") (param i32))): one kernel alone, with one parameter of three.
  const head = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 5, 1, 0x60, 1, 0x7f, 0, 3, 2, 1, 0];
  const other = Uint8Array.from([...head, 7, 7, 1, 3, 0x64, 0x6f, 0x74, 0, 0, 10, 4, 1, 2, 0, 0x0b]);
  const instantiate = () =>
    instantiateWasmKernels(createSharedMemory(1), 'release', new WebAssembly.Module(other));
  expect(instantiate).toThrow(/kernels\.wasm does not fit this program \(dot, .*batchTopK.*build:wasm/);
});

test('auto takes WASM where it was built', () => {
  expect(loadKernels(createSharedMemory(1)).name).toBe(supportsRelaxed() ? 'wasm-relaxed' : 'wasm');
});

test('the debug build traps on what the release build trusts', () => {
  const kernels = loadKernels(createSharedMemory(1 << 16), 'wasm-debug');
  expect(() => kernels.gramian(1024, 4, 6, 4096)).toThrow(/unreachable/);
  expect(() => kernels.choleskySolve(1024, 4096, 7)).toThrow(/unreachable/);
});
