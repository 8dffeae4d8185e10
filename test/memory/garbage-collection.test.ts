import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { countForCollection, externalBytes } from '../../src/memory/garbage-collection.ts';

const MODELS = 60;
const MODEL_MB = 16;

/** The most that a program of its own holds which makes one model after the other and keeps the latest. */
function peakMb(counted: boolean): number {
  const module = fileURLToPath(new URL('../../src/memory/garbage-collection.ts', import.meta.url));
  const script = `
    import { setTimeout } from 'node:timers/promises';
    import { countForCollection } from '${module}';
    let latest, peak = 0;
    for (let model = 0; model < ${MODELS}; model++) {
      const pages = ${MODEL_MB * 16};
      latest = { memory: new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }) };
      new Uint8Array(latest.memory.buffer).fill(1);
      if (${counted}) countForCollection(latest);
      await setTimeout(20);
      peak = Math.max(peak, process.memoryUsage.rss());
    }
    console.log(peak / 2 ** 20);`;
  return Number(execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', script]));
}

it('has the memory of models that nobody uses collected in a thread that makes no other garbage', () => {
  const all = MODELS * MODEL_MB;
  expect(peakMb(false)).toBeGreaterThan(all);
  expect(peakMb(true)).toBeLessThan(all / 2);
});

it('tells the memory outside the heap without what it counts for others', () => {
  const memory = new WebAssembly.Memory({ initial: 1000, maximum: 1000, shared: true });
  const [bytes, known] = [externalBytes(), process.memoryUsage().external];
  countForCollection({ memory, again: memory.buffer });
  expect(process.memoryUsage().external - known).toBeGreaterThan(60_000_000);
  expect(Math.abs(externalBytes() - bytes)).toBeLessThan(5_000_000);
});
