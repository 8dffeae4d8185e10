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
  return { open: async (bounds) => new LmdbShownLog(folder, bounds, false), done: async () => {} };
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
  const log = new LmdbShownLog(folder, { retentionMs: 1e12, bytesMax: 1e9 }, true);
  const stored = new Set<string>();
  for await (const users of log.walk())
    for (const { userId, records } of users)
      for (const { itemRows } of records) stored.add(`${userId} ${itemRows[0]}`);
  await log.close();
  expect(acknowledged.length).toBeGreaterThanOrEqual(300);
  for (const line of acknowledged) expect(stored).toContain(line);
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
