import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, it } from 'vitest';
import { automaticChoice, chooseRelaxedSimd, loadKernels } from '../../src/kernel/load-kernels.ts';
import { createSharedMemory } from '../../src/memory/shared-memory.ts';
import { threadEntry } from '../../src/platform/program/thread-entry.ts';

afterAll(() => chooseRelaxedSimd('auto'));

/** What `auto` comes to in a thread that is started now. */
async function choiceOfThread(): Promise<string> {
  const { url, execArgv } = threadEntry(import.meta.url, './choice-thread');
  const thread = new Worker(url, { execArgv });
  return new Promise((resolve, reject) => thread.once('message', resolve).once('error', reject));
}

describe('relaxed SIMD', () => {
  it('is taken by every thread on each Node.js that is supported', async () => {
    chooseRelaxedSimd('auto');
    expect(automaticChoice()).toBe('wasm-relaxed');
    expect(loadKernels(createSharedMemory(1)).name).toBe('wasm-relaxed');
    expect(await choiceOfThread()).toBe('wasm-relaxed');
  });

  it('is taken by none when it is off', async () => {
    chooseRelaxedSimd('off');
    expect(automaticChoice()).toBe('wasm');
    expect(loadKernels(createSharedMemory(1)).name).toBe('wasm');
    expect(await choiceOfThread()).toBe('wasm');
  });
});
