import { expect, test, vi } from 'vitest';
import type { FromWriter, Write, WriteAnswer } from '../../src/store/lmdb/tables/writer-messages.ts';
import { takeGroup } from '../../src/store/lmdb/writer/group-commit.ts';
import { WriterLoop } from '../../src/store/lmdb/writer/writer-loop.ts';

const SMALL = new Uint8Array(10);

/** A loop over a disk that fails when the test says so. */
function loopOver() {
  const posted: FromWriter[] = [];
  const disk = {
    isFull: false,
    dies: false,
    written: 0,
    probes: 0,
  };
  const refused = (ticket: number): WriteAnswer => ({
    ticket,
    result: undefined,
    error: { code: 'STORE_UNAVAILABLE', detail: '', places: [] },
    trace: 'no space',
  });
  const loop = new WriterLoop({
    write(writes) {
      if (disk.dies) throw new Error('another process has written');
      if (!disk.isFull) disk.written += writes.length;
      const answers = writes.map(({ ticket }) =>
        disk.isFull
          ? refused(ticket)
          : { ticket, result: { rowAffected: 1, removed: [] }, error: undefined, trace: undefined },
      );
      const failure = disk.isFull ? new Error('No space left on device') : undefined;
      return { answers, changes: [], failure, nextTransaction: 0 };
    },
    hasSlices: () => false,
    slice() {
      throw new Error('there is none');
    },
    probe() {
      disk.probes++;
      if (disk.isFull) throw new Error('No space left on device');
    },
    nextTransaction: () => 0,
    post: (message) => void posted.push(message),
    close: async () => {},
    probeMs: 1,
  });
  let tickets = 0;
  return {
    disk,
    loop,
    posted,
    problems: () => posted.flatMap((each) => (each.kind === 'problem' ? [each.problem] : [])),
    async write(): Promise<boolean> {
      const ticket = ++tickets;
      const command = { kind: 'putUsers', batch: { json: SMALL, single: false } } as const;
      loop.receive({ kind: 'write', ticket, nowMs: 0, command } satisfies Write);
      const answer = await vi.waitFor(() => {
        const found = posted
          .flatMap((each) => (each.kind === 'committed' ? each.answers : []))
          .find((each) => each.ticket === ticket);
        if (found === undefined) throw new Error('no answer yet');
        return found;
      }, 600_000);
      return answer.error === undefined;
    },
  };
}

test('a full disk is told at once, asked about again and again, and over when there is room', async () => {
  const { disk, write, problems } = loopOver();
  disk.isFull = true;
  expect(await write()).toBe(false);
  expect(await write()).toBe(false);
  expect(problems()).toEqual(['The data store cannot write to its disk: No space left on device.']);
  const { probes } = disk;
  await vi.waitFor(() => expect(disk.probes).toBeGreaterThan(probes + 2), 600_000);
  expect(problems()).toHaveLength(1);
  disk.isFull = false;
  await vi.waitFor(() => expect(problems().at(-1)).toBeUndefined(), 600_000);
  expect(await write()).toBe(true);
});

test('a lone write takes one turn of the event loop', async () => {
  const { write } = loopOver();
  const turns = vi.spyOn(globalThis, 'setImmediate');
  for (let count = 1; count <= 3; count++) {
    expect(await write()).toBe(true);
    expect(turns).toHaveBeenCalledTimes(count);
  }
  turns.mockRestore();
});

test('whoever asks to be alone behind a failure that ended the loop is refused, so that the thread can end', async () => {
  const { disk, loop, posted, write } = loopOver();
  expect(await write()).toBe(true);
  disk.dies = true;
  const command = { kind: 'putUsers', batch: { json: SMALL, single: false } } as const;
  loop.receive({ kind: 'write', ticket: 99, nowMs: 0, command });
  await vi.waitFor(() => expect(posted.at(-1)!.kind).toBe('failed'), 600_000);
  await expect(loop.exclusively(async () => {})).rejects.toThrow();
});

test.each<Write['command']>([
  { kind: 'deleteUser', userId: 'u' },
  { kind: 'deleteFeedback', feedbackType: undefined, userId: 'u', itemId: 'i' },
  { kind: 'patchUser', userId: 'u', json: new Uint8Array(1000) },
  { kind: 'addCategory', itemId: 'i', category: 'c' },
])('no more than some thousand commands share a transaction, also of $kind', (command) => {
  const waiting = Array.from(
    { length: 30_000 },
    (_, ticket): Write => ({ kind: 'write', ticket, nowMs: 0, command }),
  );
  const groups: number[] = [];
  while (waiting.length > 0) groups.push(takeGroup(waiting).length);
  expect(groups.length).toBeGreaterThan(3);
  expect(Math.max(...groups)).toBeLessThanOrEqual(10_000);
  expect(groups.reduce((sum, each) => sum + each, 0)).toBe(30_000);
});
