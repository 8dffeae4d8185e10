import { describe, expect, it, vi } from 'vitest';
import type { ShownBounds, ShownLog, ShownRecord } from '../../../src/store/shown-log.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 0, 31);
const WAIT = { timeout: 300_000, interval: 100 };
const WIDE: ShownBounds = { retentionMs: 90 * DAY_MS, bytesMax: 2 ** 28 };

/** The contract of every log of what was shown. @param open opens the same log each time, until `done` */
export function shownLogContract(
  begin: () => Promise<{ open: (bounds: ShownBounds) => Promise<ShownLog>; done: () => Promise<void> }>,
): void {
  const using = async (use: (open: (bounds?: ShownBounds) => Promise<ShownLog>) => Promise<void>) => {
    const { open, done } = await begin();
    const opened: ShownLog[] = [];
    try {
      await use(async (bounds = WIDE) => {
        await opened.pop()?.close();
        opened.push(await open(bounds));
        return opened[0]!;
      });
    } finally {
      await opened.pop()?.close();
      await done();
    }
  };

  describe('the log of what was shown', () => {
    it('gives back what was acknowledged, a user by time and users by id, after a restart too', () =>
      using(async (open) => {
        const log = await open();
        const records = [
          shown('b', 3, { itemRows: [7, 1, 4], places: [1, 2, 3] }),
          shown('é', 1, { itemRows: [9], places: [12] }),
          shown('b', 1, { itemRows: [3], places: [], feedbackType: 'like' }),
          shown('ab', 2, { itemRows: [3], places: [1] }),
        ];
        await Promise.all(records.map((record) => log.append([record])));
        const [b3, e1, b1, ab2] = records;
        expect(await log.ofUser('b')).toEqual([b1, b3]);
        expect(await log.ofUser('b', 1)).toEqual([b3]);
        expect(await log.ofUser('a')).toEqual([]);
        const again = await open();
        expect(await all(again)).toEqual([ab2, b1, b3, e1]);
      }));

    it('forgets a user and nobody else', () =>
      using(async (open) => {
        const log = await open();
        const users = ['u', 'u ', 'uu', 'u\u0001'];
        for (let round = 0; round < 300; round++)
          await log.append(users.map((userId) => shown(userId, round)));
        await log.forget('u');
        expect(await log.ofUser('u')).toEqual([]);
        const left = await all(await open());
        expect(new Set(left.map(({ userId }) => userId))).toEqual(new Set(users.slice(1)));
        expect(left).toHaveLength(900);
      }));

    it('gives what is of one time in the order of arrival', () =>
      using(async (open) => {
        const log = await open();
        const rows = Array.from({ length: 50 }, (_, at) => at);
        for (const row of rows) await log.append([shown('u', 0, { itemRows: [row], places: [1] })]);
        expect((await log.ofUser('u')).map(({ itemRows }) => itemRows[0])).toEqual(rows);
      }));

    it('gives the latest of very many of a user, each once', () =>
      using(async (open) => {
        const log = await open();
        await log.append(Array.from({ length: 700 }, (_, number) => shown('u', number)));
        const times = (await log.ofUser('u', 500)).map(({ timeMs }) => timeMs - NOW_MS);
        expect(times).toEqual(Array.from({ length: 500 }, (_, at) => 200 + at));
      }));

    it('is bounded while it is written, whoever prunes it', () =>
      using(async (open) => {
        const log = await open({ retentionMs: 1000 * DAY_MS, bytesMax: 2 ** 20 });
        for (let part = 0; part < 60; part++)
          await log.append(Array.from({ length: 500 }, (_, at) => shown(`u${at}`, part * 500 + at)));
        await vi.waitFor(async () => expect((await all(log)).length).toBeLessThan(15_000), WAIT);
        expect(await log.ofUser('u499', 1)).toEqual([shown('u499', 59 * 500 + 499)]);
      }));

    it('walks over many users, each once and whole', () =>
      using(async (open) => {
        const log = await open();
        const name = (number: number) => `u${number % 700}`;
        const records = Array.from({ length: 2800 }, (_, number) => shown(name(number), number));
        await log.append(records);
        const ids: string[] = [];
        for await (const users of log.walk())
          for (const { userId, records: own } of users) {
            ids.push(userId);
            expect(own).toHaveLength(4);
          }
        expect(ids).toHaveLength(700);
        expect(ids).toEqual([...new Set(ids)].sort());
      }));

    it('drops the oldest by time, and once there is too much', () =>
      using(async (open) => {
        const log = await open({ retentionMs: 10 * DAY_MS, bytesMax: 2 ** 28 });
        for (let day = 0; day < 30; day++)
          await log.append([shown('a', day * DAY_MS), shown('b', day * DAY_MS)]);
        await log.prune(NOW_MS + 29 * DAY_MS);
        const days = (await all(log)).map(({ timeMs }) => (timeMs - NOW_MS) / DAY_MS);
        expect(Math.min(...days)).toBe(19);
        expect(days).toHaveLength(22);

        // One that tells of long ago takes nothing else with it.
        await log.append([shown('late', -500 * DAY_MS)]);
        await log.prune(NOW_MS + 29 * DAY_MS);
        expect((await log.ofUser('a')).length).toBe(11);

        const small = await open({ retentionMs: 1000 * DAY_MS, bytesMax: 2 ** 20 });
        for (let part = 0; part < 40; part++)
          await small.append(
            Array.from({ length: 500 }, (_, at) => shown(`u${at}`, 30 * DAY_MS + part * 500 + at)),
          );
        await small.prune(NOW_MS + 31 * DAY_MS);
        const left = await all(small);
        expect(left.length).toBeGreaterThan(2000);
        expect(left.length).toBeLessThan(15_000);
        const times = left.map(({ timeMs }) => timeMs);
        expect(Math.max(...times)).toBe(NOW_MS + 30 * DAY_MS + 39 * 500 + 499);
        expect(Math.min(...times)).toBeGreaterThan(NOW_MS + 30 * DAY_MS + 2500);
      }));
  });
}

function shown(userId: string, afterMs: number, more: Partial<ShownRecord> = {}): ShownRecord {
  const list = { placement: 'home', variant: '', generation: 3, timeMs: NOW_MS + afterMs };
  return { userId, timeMs: NOW_MS + afterMs, list, itemRows: [1, 2], places: [1, 2], ...more };
}

async function all(log: ShownLog): Promise<ShownRecord[]> {
  const records: ShownRecord[] = [];
  for await (const users of log.walk()) for (const user of users) records.push(...user.records);
  return records;
}
