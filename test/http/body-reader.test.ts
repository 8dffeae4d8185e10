import { expect, test } from 'vitest';
import type { FurzeError } from '../../src/domain/furze-error.ts';
import { type BodyOutcome, BodyReader } from '../../src/http/flow/body-reader.ts';
import { ByteBudget } from '../../src/http/flow/byte-budget.ts';
import { PaceWatch } from '../../src/http/flow/pace-watch.ts';

const MIB = 2 ** 20;
const CHUNK = Uint8Array.from({ length: 64 * 1024 }, (_, at) => at % 251);

/** What became of a body of chunks, the last of which is `lastBytes` long, and the memory that was held for it after each. */
function read(chunks: number, lastBytes: number, lengthBytes: number, bytesMax = 64 * MIB) {
  const budget = new ByteBudget(1024 * MIB);
  let outcome: BodyOutcome | undefined;
  const body = new BodyReader({ bytesMax, budget, paces: new PaceWatch(60_000) }, lengthBytes, (told) => {
    outcome = told;
  });
  const held: number[] = [];
  for (let at = 0; at < chunks; at++) {
    body.take(CHUNK, false);
    held.push(budget.heldBytes);
  }
  body.take(CHUNK.subarray(0, lastBytes), true);
  return { outcome, held, body, budget };
}

test('a long body takes little more memory than has come of it, however long it is said to be', () => {
  const whole = 200 * CHUNK.length + 7;
  for (const lengthBytes of [0, whole, 60 * MIB]) {
    const { outcome, held, body, budget } = read(200, 7, lengthBytes);
    for (const [at, bytes] of held.entries())
      expect(bytes - (at + 1) * CHUNK.length).toBeLessThanOrEqual(MIB / 4);
    const bytes = outcome as Uint8Array<ArrayBuffer>;
    expect(bytes.length).toBe(whole);
    // It is handed to another thread with its buffer, which nothing else may be in.
    expect(bytes.buffer.byteLength).toBe(whole);
    expect([bytes[0], bytes[CHUNK.length * 100 + 5], bytes.at(-1)]).toEqual([0, 5, 6]);
    expect(structuredClone(bytes, { transfer: [bytes.buffer] })).toHaveLength(whole);
    body.end();
    expect(budget.heldBytes).toBe(0);
  }
});

test('a body of any length is what came, to the limit and no further', () => {
  for (const chunks of [0, 1, 3, 4, 5, 16]) {
    const { outcome } = read(chunks, 9, 0, 16 * CHUNK.length + 9);
    const bytes = outcome as Uint8Array;
    expect(bytes).toHaveLength(chunks * CHUNK.length + 9);
    expect(new TextDecoder('latin1').decode(bytes).length).toBe(bytes.length);
    for (let at = 0; at < bytes.length; at += 4099) expect(bytes[at]).toBe((at % CHUNK.length) % 251);
  }
  const { outcome, budget } = read(16, 10, 0, 16 * CHUNK.length + 9);
  expect((outcome as FurzeError).code).toBe('BODY_TOO_LARGE');
  expect(budget.heldBytes).toBe(0);
});

test('a body in chunks of any size comes up to the limit, and is refused beyond it', () => {
  for (const chunkBytes of [40_000, 65_536, 99_991, 262_143]) {
    const bytesMax = 2 * MIB;
    const budget = new ByteBudget(1024 * MIB);
    let outcome: BodyOutcome | undefined;
    const body = new BodyReader({ bytesMax, budget, paces: new PaceWatch(60_000) }, 0, (told) => {
      outcome = told;
    });
    const chunk = new Uint8Array(chunkBytes);
    const whole = Math.floor(bytesMax / chunkBytes);
    for (let at = 0; at < whole; at++) body.take(chunk, false);
    expect(outcome).toBeUndefined();
    const rest = bytesMax - whole * chunkBytes;
    if (chunkBytes % 2 === 0) {
      body.take(chunk.subarray(0, rest), true);
      expect(outcome).toHaveLength(bytesMax);
    } else {
      body.take(chunk, false);
      expect((outcome as FurzeError | undefined)?.code).toBe('BODY_TOO_LARGE');
    }
    body.end();
    expect(budget.heldBytes).toBe(0);
  }
});

test('long bodies that come slowly leave room for short ones, and the longest fits all the same', () => {
  const paces = new PaceWatch(60_000);
  const open = (budget: ByteBudget, chunks: number) => {
    const told: BodyOutcome[] = [];
    const body = new BodyReader({ bytesMax: 64 * MIB, budget, paces }, 0, (outcome) => told.push(outcome));
    for (let at = 0; at < chunks; at++) body.take(CHUNK, false);
    return { body, told };
  };
  const budget = new ByteBudget(256 * MIB);
  const slow = Array.from({ length: 40 }, () => open(budget, 900));
  expect(slow.filter(({ told }) => told.length > 0).length).toBeGreaterThan(0);
  const short = open(budget, 4);
  short.body.take(CHUNK.subarray(0, 0), true);
  expect(short.told[0]).toHaveLength(4 * CHUNK.length);
  for (const { body } of [...slow, short]) body.end();
  const longest = open(new ByteBudget(64 * MIB), 1024);
  longest.body.take(CHUNK.subarray(0, 0), true);
  expect(longest.told[0]).toHaveLength(64 * MIB);
  longest.body.end();
});
