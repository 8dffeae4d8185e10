import { expect, it } from 'vitest';
import type { FromWriter } from '../../src/store/lmdb/tables/writer-messages.ts';
import { ReplicaLoop } from '../../src/store/postgres/replica-loop.ts';
import { PLAIN_RULES } from './helpers.ts';

const MARK = 70;

/** A loop over a replica that shows commits up to 7, and a database whose last commit has another number, or another mark. */
function createLoop(truthAt: number, mark = MARK) {
  const posted: FromWriter[] = [];
  let forsaken = 0;
  const group = { failure: undefined, changes: [], nextTransaction: 9 };
  const loop = new ReplicaLoop({
    rules: PLAIN_RULES,
    point: { position: 7, mark: MARK },
    post: (message) => posted.push(message),
    close: async () => {},
    forsake: () => {
      forsaken++;
    },
    replica: {
      replicate: () => ({ ...group, answers: [] }),
      slice: () => group as never,
      hasSlices: false,
      nextTransaction: 9,
    },
    commitLog: {
      write: async () => ({
        answers: [{ rowAffected: 1 }] as never,
        commit: { position: truthAt + 1, mark: 80, markBefore: mark, parts: [] },
      }),
      commitsAfter: async () => ({ commits: [], head: { position: truthAt, mark } }),
      removeSome: async () => false,
      forgetOld: async () => {},
    },
  });
  const answers = () => posted.flatMap((message) => (message.kind === 'committed' ? message.answers : []));
  const failed = () => posted.find(({ kind }) => kind === 'failed');
  return { loop, answers, failed, forsaken: () => forsaken };
}

const write = { kind: 'write', ticket: 1, nowMs: 0, command: { kind: 'deleteUser', userId: 'ann' } } as const;

it('answers a write that the truth gave the next number', async () => {
  const { loop, answers, failed, forsaken } = createLoop(7);
  loop.receive(write as never);
  await expect
    .poll(answers)
    .toEqual([{ ticket: 1, result: { rowAffected: 1 }, error: undefined, trace: undefined }]);
  expect([failed(), forsaken()]).toEqual([undefined, 0]);
});

it.each([
  ['has fewer commits', 5, MARK],
  ['has other commits with the same numbers', 7, 71],
])('takes no writes where the truth %s, and has everything copied anew', async (_, truthAt, mark) => {
  const { loop, answers, failed, forsaken } = createLoop(truthAt, mark);
  loop.receive(write as never);
  await expect.poll(answers).toHaveLength(1);
  expect(answers()[0]!.error).toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(failed()).toMatchObject({ reason: expect.stringContaining('has lost commits'), isFinal: true });
  expect(forsaken()).toBe(1);
});

it.each([
  ['fewer commits', 5, MARK],
  ['other commits with the same numbers', 7, 71],
])('finds %s without a write, too', async (_, truthAt, mark) => {
  const { loop, failed, forsaken } = createLoop(truthAt, mark);
  loop.receive({ kind: 'follow' });
  await expect.poll(failed).toMatchObject({ isFinal: true });
  expect(forsaken()).toBe(1);
});
