import { expect, test, vi } from 'vitest';
import type { FromWriter, Write } from '../../src/store/lmdb/tables/writer-messages.ts';
import type { Group } from '../../src/store/lmdb/writer/group-commit.ts';
import { ReplicaLoop } from '../../src/store/postgres/replica-loop.ts';
import { storeOptions, toJson } from './helpers.ts';

const NO_SPACE = 28;

test('a copy on a full disk does not hold up a stop', async () => {
  const posted: FromWriter[] = [];
  let isClosed = false;
  const loop = new ReplicaLoop({
    commitLog: {
      head: async () => ({ position: 0, mark: 0 }),
      write: async () => ({ answers: [], commit: { position: 1, mark: 1, markBefore: 0, parts: [] } }),
      commitsAfter: async () => [],
      removeSome: async () => false,
      forgetOld: async () => {},
    },
    copy: {
      replicate(): Group {
        throw Object.assign(new Error('No space left on device'), { code: NO_SPACE });
      },
      forsake() {
        throw new Error('it has lost nothing');
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
    flush: async () => {},
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
