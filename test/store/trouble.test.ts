import { cpSync, existsSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { type FurzeError, isEngineError, messageOf } from '../../src/domain/furze-error.ts';
import type { DataStore } from '../../src/store/data-store.ts';
import { WriterSupervisor } from '../../src/store/lmdb/writer/writer-supervisor.ts';
import { openCacheStore, openDataReader } from '../../src/store/open/thread-stores.ts';
import { close, openIn, PLAIN_RULES, putFeedback, storeOptions, tempFolder } from './helpers.ts';

const BATCHES = 60;
const BATCH_RECORDS = 50;

function batch(number: number) {
  return Array.from({ length: BATCH_RECORDS }, (_, at) => ({
    FeedbackType: 'like',
    UserId: `user-${number}`,
    ItemId: `item-${at}`,
  }));
}

/** Writes all batches at once and tells of each whether it was acknowledged, or why not. */
function writeAll(data: DataStore): Promise<string>[] {
  return Array.from({ length: BATCHES }, (_, number) =>
    data.write(putFeedback(batch(number))).then(
      () => 'written',
      (error: FurzeError) => error.code,
    ),
  );
}

async function storedBatches(data: DataStore): Promise<boolean[]> {
  const counts = await Promise.all(
    Array.from({ length: BATCHES }, (_, number) => data.getUserFeedback(`user-${number}`)),
  );
  for (const { length } of counts) expect([0, BATCH_RECORDS]).toContain(length);
  return counts.map(({ length }) => length > 0);
}

/** Sends the writer what no caller can, which ends it. */
function breakWriter(data: DataStore): void {
  (Reflect.get(data, 'writer') as { post(message: unknown): void }).post({ kind: 'write' });
}

test('a process that LMDB lets read no more ends as after any fault', async () => {
  const folder = tempFolder();
  const { data } = openIn(folder);
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  try {
    const fault = new Promise((resolve) => process.once('uncaughtException', resolve));
    const { events } = Reflect.get(data, 'writer') as {
      events: { down(reason: string, trace: unknown): void };
    };
    events.down('MDB_PANIC: Update of meta page failed or environment had fatal error', undefined);
    const error = await fault;
    expect([isEngineError(error), messageOf(error)]).toEqual([
      true,
      expect.stringMatching(/ is neither read nor written any more by this process .* restart the service$/),
    ]);
  } finally {
    for (const each of others) process.on('uncaughtException', each);
  }
});

test('a writer that dies refuses what waits and what comes; reads go on, and what was acknowledged is there', async () => {
  const folder = tempFolder();
  const troubles: string[] = [];
  const stores = openIn(folder, {
    onTrouble: (message) => troubles.push(message),
    writerRestartMs: 86_400_000,
  });
  const { data } = stores;
  await data.write(putFeedback(batch(0)));
  const first = writeAll(data).slice(0, BATCHES / 2);
  await first[5];
  breakWriter(data);
  const outcomes = await Promise.all([...first, ...writeAll(data)]);
  expect(new Set(outcomes)).toEqual(new Set(['written', 'STORE_UNAVAILABLE']));
  expect(troubles[0]).toMatch(
    /^The thread that writes the data store failed \(.+\); it is started again in 30000 ms/,
  );
  await expect(data.ping()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(data.write(putFeedback(batch(1)))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(await data.getUserFeedback('user-0')).toHaveLength(BATCH_RECORDS);
  await close(stores);
  const { data: again } = openIn(folder);
  const stored = await storedBatches(again);
  first.forEach((_, number) => {
    if (outcomes[number] === 'written') expect([number, stored[number]]).toEqual([number, true]);
  });
  await again.write(putFeedback(batch(1)));
});

test('more writes than may wait are refused, and nothing of what was acknowledged is lost', async () => {
  const folder = tempFolder();
  const stores = openIn(folder, { waitingBytesMax: 40_000 });
  const outcomes = await Promise.all(writeAll(stores.data));
  expect(new Set(outcomes)).toEqual(new Set(['written', 'OVERLOADED']));
  // What waited is done, so there is room again.
  await stores.data.write(putFeedback(batch(0)));
  await close(stores);
  const stored = await storedBatches(openIn(folder).data);
  expect(stored.slice(1)).toEqual(outcomes.slice(1).map((outcome) => outcome === 'written'));
});

test('a single write larger than all that may wait is taken when nothing waits', async () => {
  const { data } = openIn(tempFolder(), { waitingBytesMax: 1 });
  expect(await data.write(putFeedback(batch(0)))).toMatchObject({ rowAffected: BATCH_RECORDS });
});

test('a writer that has died is started again, and says so', async () => {
  const troubles: string[] = [];
  const { data } = openIn(tempFolder(), {
    onTrouble: (message) => troubles.push(message),
    writerRestartMs: 1,
  });
  await data.write(putFeedback(batch(0)));
  for (const number of [1, 2]) {
    breakWriter(data);
    await expect(data.write(putFeedback(batch(number)))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await vi.waitFor(() => data.ping(), 600_000);
    await data.write(putFeedback(batch(number)));
  }
  expect(await data.getStats()).toMatchObject({ users: 3, feedback: 3 * BATCH_RECORDS });
  expect(troubles.filter((each) => each.endsWith('is back'))).toHaveLength(2);
});

test('a writer that cannot start is tried again each second, however long there is nothing to start it with', async () => {
  const folder = tempFolder();
  const stores = openIn(folder);
  await close(stores);
  const gate = join(folder, 'gate');
  writeFileSync(gate, '');
  process.env.FURZE_TEST_GATE = gate;
  const reasons: string[] = [];
  const heard: string[] = [];
  let isUp = false;
  const { dataPath, sync } = storeOptions(folder);
  const supervisor = new WriterSupervisor(
    { dataPath, sync, rules: PLAIN_RULES },
    {
      receive: ({ kind }) => void heard.push(kind),
      down(reason) {
        reasons.push(reason);
        if (reasons.length === 4) rmSync(gate);
      },
      up: () => {
        isUp = true;
      },
    },
    400,
    '../test/store/gated-writer',
  );
  await vi.waitFor(() => expect(isUp).toBe(true), 600_000);
  expect(reasons.map((reason) => Number(/again in (\d+) ms/.exec(reason)![1]))).toEqual([
    400, 800, 1000, 1000,
  ]);
  expect(reasons[0]).toContain('no handles left');
  expect(heard).toContain('ready');
  supervisor.close();
  await supervisor.ended;
  delete process.env.FURZE_TEST_GATE;
});

test.skipIf(process.platform === 'win32').each([
  ['moved away', () => {}],
  ['replaced', (dataPath: string) => cpSync(`${dataPath}-elsewhere`, dataPath, { recursive: true })],
  // Nor can it be looked at then.
  ['out of reach', (dataPath: string) => symlinkSync(dataPath, dataPath)],
])('a folder that is %s takes no writes until it is back, and reads go on', async (_how, put) => {
  const folder = tempFolder();
  const troubles: string[] = [];
  const stores = openIn(folder, { onTrouble: (message) => troubles.push(message) });
  const { data } = stores;
  await data.write(putFeedback(batch(0)));
  const { dataPath } = storeOptions(folder);
  const reads = openDataReader(dataPath);
  renameSync(dataPath, `${dataPath}-elsewhere`);
  put(dataPath);
  const isThere = existsSync(dataPath);
  // What was taken now would be found by nobody after a restart.
  await expect(data.write(putFeedback(batch(1)))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  await expect(data.ping()).rejects.toThrow('is no longer in');
  reads.local.refresh();
  expect(reads.local.findUser('user-0')).toBeDefined();
  if (!isThere) {
    // A worker that comes only now.
    expect(() => openDataReader(dataPath)).toThrow('is no longer in');
    expect(() => openCacheStore(`${dataPath}/cache`)).toThrow('is no longer in');
    expect(existsSync(dataPath)).toBe(false);
  }
  expect(await data.getUserFeedback('user-0')).toHaveLength(BATCH_RECORDS);
  await reads.close();
  rmSync(dataPath, { recursive: true, force: true });
  renameSync(`${dataPath}-elsewhere`, dataPath);
  await vi.waitFor(() => data.ping(), 600_000);
  await data.write(putFeedback(batch(2)));
  await close(stores);
  expect(troubles.join()).toContain('put it back');
  const again = openIn(folder);
  expect((await storedBatches(again.data)).slice(0, 3)).toEqual([true, false, true]);
  await close(again);
});
