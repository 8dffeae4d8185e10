import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { GenerationFollower } from '../../src/background/fit/generation-follower.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import type { Cluster } from '../../src/store/cluster.ts';

let asked: number[];
/** Tries that fail before one succeeds. */
let failures: number;
let published: number;
let turn: () => void;
let follower: GenerationFollower;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, failures, published] = [[], 0, 0];
  const cluster = {
    epoch: undefined,
    fitsAsked: 0,
    get published() {
      return published;
    },
    onTurn(listener: () => void) {
      turn = listener;
    },
  } as unknown as Cluster;
  const fits = {
    async takeOver(number: number) {
      asked.push(number);
      if (failures-- > 0) throw new Error('the database is away');
      return true;
    },
    lead() {},
    yieldLead() {},
    joinPass() {},
    run: async () => undefined,
  };
  follower = new GenerationFollower(cluster, fits, createLogger('info', { write() {} }));
  follower.start();
});

afterEach(() => {
  follower.stop();
  vi.useRealTimers();
});

async function publish(number: number): Promise<void> {
  published = number;
  turn();
  await vi.advanceTimersByTimeAsync(0);
}

test('a generation that could not be read is read again, at longer and longer pauses, until it serves', async () => {
  failures = 3;
  await publish(4);
  expect(asked).toEqual([4]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1000);
  expect(asked).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked).toEqual([4, 4, 4, 4]);
});

test('one that is published meanwhile takes its place', async () => {
  failures = 1;
  await publish(4);
  await publish(5);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(asked).toEqual([4, 5]);
});

test('nothing is tried again after a stop', async () => {
  failures = 9;
  await publish(4);
  follower.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  await publish(5);
  expect(asked).toEqual([4]);
});
