import { expect, test, vi } from 'vitest';
import type { CheckedCommand } from '../../src/store/check-command.ts';
import type { FromWriter, Write } from '../../src/store/lmdb/tables/writer-messages.ts';
import type { Group } from '../../src/store/lmdb/writer/group-commit.ts';
import { DatabaseAwayError } from '../../src/store/postgres/database-away-error.ts';
import { ReplicaLoop, type ReplicaLoopParts } from '../../src/store/postgres/replica-loop.ts';
import { storeOptions, toJson } from './helpers.ts';

const NO_SPACE = 28;

/** A loop whose groups end as `before` has it, over a replica that takes everything. */
function loopOf(
  before: (commands: readonly CheckedCommand[]) => Promise<void>,
  { post, close = async () => {} }: Pick<ReplicaLoopParts, 'post'> & Partial<Pick<ReplicaLoopParts, 'close'>>,
): ReplicaLoop {
  let position = 0;
  return new ReplicaLoop({
    commitLog: {
      async write(commands) {
        await before(commands);
        const commit = { position: ++position, mark: position, markBefore: position - 1, parts: [] };
        return { answers: commands.map(() => ({ rowAffected: 1, removed: [] })), commit };
      },
      commitsAfter: async () => ({ commits: [], head: { position, mark: position } }),
      removeSome: async () => false,
      forgetOld: async () => {},
    },
    forsake() {},
    replica: {
      replicate: () => ({ answers: [], changes: [], failure: undefined, nextTransaction: 0 }),
      hasSlices: false,
      slice(): Group {
        throw new Error('there is none');
      },
      nextTransaction: 0,
    },
    rules: storeOptions(''),
    point: { position: 0, mark: 0 },
    post,
    close,
  });
}

test('a replica on a full disk does not hold up a stop', async () => {
  const posted: FromWriter[] = [];
  let isClosed = false;
  const loop = new ReplicaLoop({
    commitLog: {
      write: async () => ({ answers: [], commit: { position: 1, mark: 1, markBefore: 0, parts: [] } }),
      commitsAfter: async () => ({ commits: [], head: { position: 0, mark: 0 } }),
      removeSome: async () => false,
      forgetOld: async () => {},
    },
    forsake() {
      throw new Error('it has lost nothing');
    },
    replica: {
      replicate(): Group {
        throw Object.assign(new Error('No space left on device'), { code: NO_SPACE });
      },
      hasSlices: false,
      slice(): Group {
        throw new Error('there is none');
      },
      nextTransaction: 0,
    },
    rules: storeOptions(''),
    point: { position: 0, mark: 0 },
    post: (message) => void posted.push(message),
    close: async () => {
      isClosed = true;
    },
  });
  loop.start();
  const batch = { json: toJson([{ UserId: 'u' }]), single: false };
  loop.receive({ kind: 'write', ticket: 1, nowMs: 0, command: { kind: 'putUsers', batch } } satisfies Write);
  await vi.waitFor(() => expect(posted.some(({ kind }) => kind === 'problem')).toBe(true), 600_000);
  loop.receive({ kind: 'close' });
  await vi.waitFor(() => expect(isClosed).toBe(true), 600_000);
  const answers = posted.flatMap((each) => (each.kind === 'committed' ? each.answers : []));
  expect(answers.map(({ error }) => error?.code)).toEqual(['STORE_UNAVAILABLE']);
});

test.each([
  ['a fault of this program', new TypeError('details of undefined'), ['INTERNAL', undefined]],
  ['a database that is away', new DatabaseAwayError('gone'), ['STORE_UNAVAILABLE', 'STORE_UNAVAILABLE']],
])('%s in one write of a group refuses those that it concerns', async (_, failure, codes) => {
  const posted: FromWriter[] = [];
  const loop = loopOf(
    async (commands) => {
      if (commands.some((each) => each.kind === 'deleteUser' && each.userId === 'bad')) throw failure;
    },
    { post: (message) => void posted.push(message) },
  );
  for (const [at, userId] of ['bad', 'good'].entries())
    loop.receive({ kind: 'write', ticket: at, nowMs: 0, command: { kind: 'deleteUser', userId } });
  const answers = () => posted.flatMap((each) => (each.kind === 'committed' ? each.answers : []));
  await expect.poll(() => answers().length).toBe(2);
  expect(answers().map(({ error }) => error?.code)).toEqual(codes);
  const [bad] = answers();
  if (codes[0] === 'INTERNAL') {
    expect(bad!.error!.detail).toMatch(/TypeError.*deleteUser/);
    expect(bad!.trace).toContain('details of undefined');
    expect(bad!.error!.detail).not.toContain('details of undefined');
  }
  expect(posted.some(({ kind }) => kind === 'problem')).toBe(codes[0] === 'STORE_UNAVAILABLE');
});

test('a group begins beside another once as many writes wait as that has, and a stop waits for both', async () => {
  const posted: FromWriter[] = [];
  const begun: { readonly count: number; end(): void }[] = [];
  let isClosed = false;
  const loop = loopOf(
    (commands) => new Promise((resolve) => begun.push({ count: commands.length, end: resolve })),
    {
      post: (message) => void posted.push(message),
      close: async () => {
        isClosed = true;
      },
    },
  );
  let ticket = 0;
  const send = async (count: number) => {
    for (let at = 0; at < count; at++)
      loop.receive({
        kind: 'write',
        ticket: ticket++,
        nowMs: 0,
        command: { kind: 'deleteUser', userId: 'u' },
      });
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    return begun.map((each) => each.count);
  };
  expect(await send(2)).toEqual([2]);
  expect(await send(1)).toEqual([2]);
  expect(await send(2)).toEqual([2, 3]);
  expect(await send(9)).toEqual([2, 3]);
  loop.receive({ kind: 'close' });
  begun[0]!.end();
  expect(await send(0)).toEqual([2, 3, 9]);
  begun[2]!.end();
  await send(0);
  expect(isClosed).toBe(false);
  begun[1]!.end();
  await expect.poll(() => isClosed).toBe(true);
  expect(posted.flatMap((each) => (each.kind === 'committed' ? each.answers : []))).toHaveLength(14);
});

test('removals go a slice a turn, however many commits come meanwhile', async () => {
  const posted: FromWriter[] = [];
  let left = 60;
  let slicesInTurn = 0;
  let most = 0;
  let position = 0;
  const loop = new ReplicaLoop({
    commitLog: {
      write: async () => {
        position++;
        return {
          answers: [{ rowAffected: 1, removed: [] }],
          commit: { position, mark: position, markBefore: position - 1, parts: [] },
        };
      },
      commitsAfter: async () => ({ commits: [], head: { position, mark: position } }),
      removeSome: async () => false,
      forgetOld: async () => {},
    },
    forsake() {
      throw new Error('it has lost nothing');
    },
    replica: {
      replicate: (): Group => ({ answers: [], changes: [], failure: undefined, nextTransaction: 0 }),
      get hasSlices() {
        return left > 0;
      },
      slice(): Group {
        left--;
        most = Math.max(most, ++slicesInTurn);
        setImmediate(() => {
          slicesInTurn = 0;
        });
        return { answers: [], changes: [], failure: undefined, nextTransaction: 0 };
      },
      nextTransaction: 0,
    },
    rules: storeOptions(''),
    point: { position: 0, mark: 0 },
    post: (message) => void posted.push(message),
    close: async () => {},
  });
  loop.start();
  const batch = { json: toJson([{ UserId: 'u' }]), single: false };
  for (let ticket = 1; ticket <= 20; ticket++) {
    loop.receive({ kind: 'write', ticket, nowMs: 0, command: { kind: 'putUsers', batch } } satisfies Write);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await vi.waitFor(() => expect(left).toBe(0), 600_000);
  expect(most).toBe(1);
  loop.receive({ kind: 'close' });
});
