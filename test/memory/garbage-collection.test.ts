import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { countForCollection, externalBytes } from '../../src/memory/garbage-collection.ts';

const MODELS = 60;
const MODEL_MB = 16;
const ALL_MB = MODELS * MODEL_MB;

/** How long a slow machine may take to collect, in the end, what nobody uses. */
const COLLECTED_WITHIN_MS = 300_000;

/**
 * What a program of its own holds that has made one model after the other and keeps the latest, MiB.
 * @param counted whether it counts them for collection; it then waits in the end until half of them are gone
 */
function heldMb(counted: boolean): number {
  const module = fileURLToPath(new URL('../../src/memory/garbage-collection.ts', import.meta.url));
  const script = `
    import { setTimeout } from 'node:timers/promises';
    import { countForCollection } from '${module}';
    let latest;
    const heldMb = () => process.memoryUsage.rss() / 2 ** 20;
    for (let model = 0; model < ${MODELS}; model++) {
      const pages = ${MODEL_MB * 16};
      latest = { memory: new WebAssembly.Memory({ initial: pages, maximum: pages, shared: true }) };
      new Uint8Array(latest.memory.buffer).fill(1);
      if (${counted}) countForCollection(latest);
      await setTimeout(20);
    }
    const end = performance.now() + ${counted ? COLLECTED_WITHIN_MS : 0};
    while (heldMb() >= ${ALL_MB / 2} && performance.now() < end) await setTimeout(20);
    console.log(heldMb());`;
  // On a slow machine V8 finds a thread idle between two models and collects by itself.
  const flags = ['--no-memory-reducer', '--import', 'tsx', '--input-type=module'];
  return Number(execFileSync(process.execPath, [...flags, '--eval', script]));
}

it('has the memory of models that nobody uses collected in a thread that makes no other garbage', () => {
  expect(heldMb(false)).toBeGreaterThan(ALL_MB);
  expect(heldMb(true)).toBeLessThan(ALL_MB / 2);
});

it('tells the memory outside the heap without what it counts for others', () => {
  const memory = new WebAssembly.Memory({ initial: 1000, maximum: 1000, shared: true });
  const [bytes, known] = [externalBytes(), process.memoryUsage().external];
  countForCollection({ memory, again: memory.buffer });
  expect(process.memoryUsage().external - known).toBeGreaterThan(60_000_000);
  expect(Math.abs(externalBytes() - bytes)).toBeLessThan(5_000_000);
});
