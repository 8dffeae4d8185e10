import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject, test } from 'vitest';
import { AppendGroups } from '../../src/store/append-groups.ts';
import { LmdbShownLog } from '../../src/store/lmdb/lmdb-shown-log.ts';
import { shownLogContract } from './contract/shown-log.ts';
import { tempFolder } from './helpers.ts';

shownLogContract(async () => {
  const folder = tempFolder();
  return { open: async (bounds) => new LmdbShownLog(folder, bounds, false, 'own'), done: async () => {} };
});

const WRITER = join(inject('compiled'), 'test/store/shown-writer.js');

test('a killed process loses no impression that it acknowledged', async () => {
  const folder = tempFolder();
  const child = spawn(process.execPath, [WRITER, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const acknowledged: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    if (/^[a-d] \d+$/.test(line)) acknowledged.push(line);
    if (acknowledged.length === 300) child.kill('SIGKILL');
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
  const log = new LmdbShownLog(folder, { retentionMs: 1e12, bytesMax: 1e9 }, true, 'own');
  const stored = new Set<string>();
  for await (const users of log.walk())
    for (const { userId, records } of users)
      for (const { itemRows } of records) stored.add(`${userId} ${itemRows[0]}`);
  await log.close();
  expect(acknowledged.length).toBeGreaterThanOrEqual(300);
  for (const line of acknowledged) expect(stored).toContain(line);
});

const DAY_MS = 86_400_000;
const WIDE = { retentionMs: 10 * DAY_MS, bytesMax: 2 ** 28 };

function shown(userId: string, timeMs: number) {
  const list = { placement: 'home', variant: '', generation: 1, timeMs };
  return { userId, timeMs, list, itemRows: [1], places: [1] };
}

test('what is of one user and time is kept apart, after a restart too', async () => {
  const folder = tempFolder();
  for (let start = 0; start < 3; start++) {
    const log = new LmdbShownLog(folder, WIDE, false, 'own');
    await log.append([shown('a', DAY_MS), shown('a', DAY_MS)]);
    expect(await log.ofUser('a')).toHaveLength(2 * start + 2);
    await log.close();
  }
});

test('what is of other data, whose rows are of other items, is removed', async () => {
  const folder = tempFolder();
  for (const [identity, before] of [
    ['a', 0],
    ['a', 1],
    ['b', 0],
    ['b', 1],
  ] as const) {
    const log = new LmdbShownLog(folder, WIDE, false, identity);
    expect(await log.ofUser('u')).toHaveLength(before);
    if (before === 0) await log.append([shown('u', DAY_MS)]);
    await log.close();
  }
});

test('what comes while all of before is dropped stays', async () => {
  const folder = tempFolder();
  const log = new LmdbShownLog(folder, WIDE, false, 'own');
  await log.append(Array.from({ length: 3000 }, (_, at) => shown(`u${at}`, at)));
  const pruned = log.prune(30 * DAY_MS);
  await Promise.resolve();
  await log.append([shown('late', 30 * DAY_MS)]);
  await pruned;
  expect(await log.ofUser('u1')).toEqual([]);
  await log.close();
  const again = new LmdbShownLog(folder, WIDE, false, 'own');
  expect(await again.ofUser('late')).toHaveLength(1);
  await again.close();
});

test('a clock that went ahead for a while keeps nothing beyond its time', async () => {
  const folder = tempFolder();
  const log = new LmdbShownLog(folder, WIDE, false, 'own');
  await log.append([shown('ahead', 1000 * DAY_MS)]);
  await log.prune(DAY_MS);
  await log.append([shown('a', DAY_MS)]);
  await log.close();
  const again = new LmdbShownLog(folder, WIDE, false, 'own');
  await again.prune(12 * DAY_MS);
  expect(await again.ofUser('ahead')).toEqual([]);
  expect(await again.ofUser('a')).toEqual([]);
  await again.close();
});

test('what was added before is settled while others go on adding', async () => {
  let isOver = false;
  const groups = new AppendGroups<number>(() => new Promise((resolve) => setImmediate(resolve)), 100);
  const client = async () => {
    while (!isOver) await groups.add([1]);
  };
  const first = client();
  await Promise.resolve();
  // While the first is written the second waits, and the other way round: there is always one to be written.
  const second = client();
  await groups.settled();
  isOver = true;
  await Promise.all([first, second]);
});

test('what comes while a group is written makes the next, and one that is too large is refused', async () => {
  const groups: number[][] = [];
  let free = () => {};
  const log = new AppendGroups<number>((records) => {
    groups.push([...records]);
    if (records.includes(13)) return Promise.reject(new Error('no'));
    return new Promise((resolve) => {
      free = resolve;
    });
  }, 4);
  const first = log.add([1]);
  await Promise.resolve();
  const next = [log.add([2, 3]), log.add([4])];
  await expect(log.add([5, 6])).rejects.toMatchObject({ code: 'OVERLOADED' });
  free();
  await first;
  await new Promise((resolve) => setImmediate(resolve));
  free();
  await Promise.all(next);
  expect(groups).toEqual([[1], [2, 3, 4]]);
  await expect(log.add([13])).rejects.toThrow('no');
});
