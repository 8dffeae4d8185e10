import { expect, test } from 'vitest';
import { AutomaticCompaction } from '../../src/admin/automatic-compaction.ts';
import { TaskList } from '../../src/background/tasks/task-list.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { close, feedback, openIn, putFeedback, tempFolder } from './helpers.ts';

test('a store of which enough is free is rewritten by itself, and one that fails is left alone for an hour', async () => {
  let nowMs = 0;
  const lines: string[] = [];
  const log = createLogger('info', { write: (line: string) => void lines.push(line) });
  const stores = openIn(tempFolder());
  const { data, cache } = stores;
  const tasks = new TaskList(() => nowMs, cache);
  const options = { data, tasks, elapsedMs: () => nowMs, log, freeBytesMin: 100_000 };
  const upkeep = new AutomaticCompaction({ ...options, freeShare: 0.5 });
  const Comment = 'x'.repeat(5000);
  for (let i = 0; i < 40; i++) await data.write(putFeedback([feedback('like', `u${i}`, 'i', { Comment })]));
  await upkeep.look();
  expect(tasks.ended).toEqual([]);
  for (let i = 0; i < 36; i++) await data.write({ kind: 'deleteUser', userId: `u${i}` });
  const { bytes } = await data.getStats();
  await new AutomaticCompaction({ ...options, freeShare: 0.99 }).look();
  await new AutomaticCompaction({ ...options, freeShare: 0.5, freeBytesMin: 1e9 }).look();
  expect((await data.getStats()).bytes).toBe(bytes);

  const failing = { ...data, getStats: () => data.getStats(), getTables: () => data.getTables() };
  let tries = 0;
  const compact = () => {
    tries++;
    return Promise.reject(new Error('no room'));
  };
  const unlucky = new AutomaticCompaction({
    ...options,
    data: { ...failing, compact } as never,
    freeShare: 0.5,
  });
  for (const ms of [0, 1, 3_599_999]) {
    nowMs = ms;
    await unlucky.look();
  }
  expect(tries).toBe(1);
  nowMs = 3_600_001;
  await unlucky.look();
  expect(tries).toBe(2);
  expect(lines.join('\n')).toMatch(/much of the data store is free\. no room/);
  expect(tasks.ended[0]).toMatchObject({ Kind: 'compaction', State: 'failed', Error: 'no room' });

  await upkeep.look();
  expect((await data.getStats()).bytes).toBeLessThan(bytes / 2);
  expect(tasks.ended[0]).toMatchObject({ Kind: 'compaction', State: 'done', Result: { bytesBefore: bytes } });
  await upkeep.look();
  expect(tasks.ended).toHaveLength(3);
  expect((await data.getStats()).users).toBe(4);
  await close(stores);
});

test('an engine that sees to its free space by itself refuses a compaction, and nothing stands among the tasks', () => {
  const marks = { getState: async () => undefined, putState: async () => {} };
  const tasks = new TaskList(() => 0, marks);
  const log = createLogger('error');
  const upkeep = new AutomaticCompaction({
    data: {} as never,
    tasks,
    freeShare: 0.5,
    elapsedMs: () => 0,
    log,
  });
  expect(() => upkeep.compact()).toThrow(/sees to its free space by itself/);
  expect([...tasks.current, ...tasks.ended]).toEqual([]);
});
