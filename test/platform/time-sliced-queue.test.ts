import { expect, test } from 'vitest';
import { TimeSlicedQueue } from '../../src/platform/concurrency/time-sliced-queue.ts';
import { close, openIn, putItems, tempFolder } from '../store/helpers.ts';

/** Keeps the thread busy for longer than a slice. */
function work(): void {
  const end = performance.now() + 2;
  while (performance.now() < end);
}

function* job(name: string, steps: number, log: string[]): Generator<unknown> {
  for (let step = 0; step < steps; step++) {
    work();
    log.push(name);
    yield;
  }
  log.push(`${name} is done`);
}

test('short work is done at once, long work gives others their turn and keeps its order', async () => {
  const slices = new TimeSlicedQueue();
  const log: string[] = [];
  slices.add([]);
  slices.add(job('long', 2, log));
  slices.add(job('next', 1, log));
  expect(log).toEqual(['long']);
  setImmediate(() => log.push('other'));
  await new Promise<void>((resolve) => {
    slices.add({
      *[Symbol.iterator]() {
        yield resolve();
      },
    });
  });
  expect(log).toEqual(['long', 'long', 'other', 'long is done', 'next', 'next is done']);
});

test('what is left can be done at once', () => {
  const slices = new TimeSlicedQueue();
  const log: string[] = [];
  slices.add(job('a', 3, log));
  slices.add(job('b', 1, log));
  slices.finish();
  expect(log).toEqual(['a', 'a', 'a', 'a is done', 'b', 'b is done']);
});

test('a large commit is followed in turns, and answered when every listener has followed', async () => {
  const stores = openIn(tempFolder());
  const rows: number[] = [];
  let turns = 0;
  const count = () => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const seen = new Set<number>();
  stores.data.onChange(function* ({ items }) {
    expect(items.length).toBe(400);
    for (const { row, labels } of items) {
      if (row % 100 === 0) work();
      expect(labels).toEqual([`label ${row}`]);
      rows.push(row);
      seen.add(turns);
      yield;
    }
  });
  const items = Array.from({ length: 400 }, (_, at) => ({ ItemId: `i${at}`, Labels: [`label ${at}`] }));
  await stores.data.write(putItems(items));
  clearImmediate(counting);
  expect(rows).toEqual(items.map((_, at) => at));
  expect(seen.size).toBeGreaterThan(3);
  await close(stores);
});
