import { expect, test, vi } from 'vitest';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { UnflushedError } from '../../src/store/lmdb/tables/unflushed-error.ts';
import type { FromWriter } from '../../src/store/lmdb/tables/writer-messages.ts';
import { GroupWriter } from '../../src/store/lmdb/writer/group-writer.ts';
import { WriterLoop } from '../../src/store/lmdb/writer/writer-loop.ts';
import { putUsers, storeOptions, tempFolder } from './helpers.ts';

const EIO = Object.assign(new Error('Input/output error'), { code: 5 });

/** Where a flush fails: in the commit, which everybody sees by then, or at the mark, of which the commit says nothing. */
type Place = 'commitTxn' | 'sync';

/** A writer over a disk that does not keep the next commit; the flushes after it succeed. */
function writerOver(place: Place) {
  const folder = tempFolder();
  const tables = openDataTables(folder);
  const writer = new GroupWriter(tables, storeOptions(folder));
  const { env } = Reflect.get(tables.engine, 'root') as { env: Record<Place, () => unknown> };
  const original = env[place].bind(env);
  const put = (value: () => unknown) => Object.defineProperty(env, place, { value, configurable: true });
  const failOnce = () =>
    put(() => {
      put(original);
      original();
      throw EIO;
    });
  return { tables, writer, failOnce };
}

function writes(...ids: readonly string[]) {
  return ids.map((UserId, ticket) => ({
    kind: 'write' as const,
    ticket,
    nowMs: 0,
    command: putUsers([{ UserId }]),
  }));
}

test.each<Place>(['commitTxn', 'sync'])(
  'a commit that the disk did not keep is no commit, %s',
  async (place) => {
    const { tables, writer, failOnce } = writerOver(place);
    failOnce();
    // Tried one by one they would take the first for that of another process.
    expect(() => writer.write(writes('a', 'b'))).toThrow(UnflushedError);
    await tables.engine.close();
  },
);

test.each<Place>(['commitTxn', 'sync'])(
  'nothing is written after a failed flush, and the thread ends, %s',
  async (place) => {
    const { tables, writer, failOnce } = writerOver(place);
    const posted: FromWriter[] = [];
    const write = vi.fn((group: Parameters<GroupWriter['write']>[0]) => writer.write(group));
    const close = vi.fn(async () => {});
    const loop = new WriterLoop({
      write,
      hasSlices: () => false,
      slice: () => writer.slice(),
      probe: () => {},
      nextTransaction: () => writer.nextTransaction,
      post: (message) => void posted.push(message),
      close,
    });
    failOnce();
    for (const each of writes('a', 'b')) loop.receive(each);
    await vi.waitFor(() => expect(close).toHaveBeenCalled(), 600_000);
    for (const each of writes('c', 'd')) loop.receive(each);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(write).toHaveBeenCalledTimes(1);
    expect(posted).toMatchObject([{ kind: 'failed', isFinal: true }]);
    expect((posted[0] as { reason: string }).reason).toMatch(
      /failed to keep what was written to it: .*check it first/,
    );
    await tables.engine.close();
  },
);

test('a probe of a disk that is full again ends the thread where the disk does not keep it', async () => {
  const { tables, writer, failOnce } = writerOver('commitTxn');
  failOnce();
  expect(() => writer.probe(1)).toThrow(UnflushedError);
  await tables.engine.close();
});

test('no other thread is started where LMDB neither reads nor writes any more in this process', async () => {
  const posted: FromWriter[] = [];
  const close = vi.fn(async () => {});
  const loop = new WriterLoop({
    write: () => {
      throw new Error(
        'Invalid argument: MDB_PANIC: Update of meta page failed or environment had fatal error',
      );
    },
    hasSlices: () => false,
    slice: () => undefined as never,
    probe: () => {},
    nextTransaction: () => 1,
    post: (message) => void posted.push(message),
    close,
  });
  loop.receive(writes('a')[0]!);
  await vi.waitFor(() => expect(close).toHaveBeenCalled(), 600_000);
  expect(posted).toMatchObject([{ kind: 'failed', isFinal: true }]);
});
