import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, inject, test } from 'vitest';
import { detailsOf } from '../../src/store/feedback-details.ts';
import { openIn, storeOptions, tempFolder } from './helpers.ts';

const WRITER = join(inject('compiled'), 'test/store/crash-writer.js');

test.each(['disk', 'commit'] as const)(
  'a killed process loses nothing it acknowledged, sync = %s',
  async (sync) => {
    const folder = tempFolder();
    const { dataPath, cachePath } = storeOptions(folder);
    const child = spawn(process.execPath, [WRITER, dataPath, cachePath, sync], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const acknowledged: string[] = [];
    for await (const line of createInterface(child.stdout)) {
      if (/^[a-d] \d+$/.test(line)) acknowledged.push(line);
      if (acknowledged.length === 400) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    expect(child.signalCode).toBe('SIGKILL');
    expect(acknowledged.length).toBeGreaterThanOrEqual(400);

    const { data } = openIn(folder);
    const stored = new Set<string>();
    for (const name of ['a', 'b', 'c', 'd']) {
      for (const { ItemId } of await data.getUserFeedback(name, 'like')) stored.add(`${name} ${ItemId}`);
    }
    for (const line of acknowledged)
      for (const part of [0, 1, 2]) expect(stored).toContain(`${line}.${part}`);
    let bought = 0;
    for (const name of ['a', 'b', 'c', 'd'])
      for (const each of await data.getUserFeedback(name, 'buy')) {
        const { Count } = detailsOf(each, data.local);
        expect(Count).toBeGreaterThanOrEqual(acknowledged.filter((line) => line.startsWith(name)).length);
        bought += Count;
      }
    expect(bought).toBe(stored.size / 3);
    // A write is all there or not at all, acknowledged or not.
    expect(stored.size % 3).toBe(0);
    expect((await data.getStats()).feedback).toBe(stored.size + 4);
  },
);
