import { describe, expect, test } from 'vitest';
import type { Feedback } from '../../../src/domain/entities.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { code, feedback, putFeedback, putUsers, sorted, walk } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

/** Pages and their cursors. */
export function pages({ open }: StoreUnderTest): void {
  describe('pages', () => {
    test('users come in the byte order of their ids, and the last page has no cursor', async () => {
      const data = await open();
      const ids = ['b', 'a', 'é', '🐝', '\u0001', 'Z', '￿', 'x'.repeat(512)];
      await data.write(putUsers(ids.map((UserId) => ({ UserId }))));
      const byteOrder = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      for (const n of [1, 3, ids.length, 100]) {
        expect((await walk(n, (...args) => data.getUsers(...args))).map(({ UserId }) => UserId)).toEqual(
          byteOrder,
        );
      }
      expect((await data.getUsers(ids.length, '')).cursor).toBe('');
      expect(await data.getUsers(0, '')).toEqual({ cursor: '', rows: [] });
    });

    test('a walk shows every record that stays exactly once, whatever comes and goes', async () => {
      const data = await open();
      const stay = Array.from({ length: 60 }, (_, i) => feedback('other', `u${i % 7}`, `i${i}`));
      const go = Array.from({ length: 30 }, (_, i) => feedback('other', `u${i % 7}`, `gone${i}`));
      await data.write(putFeedback([...stay, ...go]));
      for (const type of [undefined, 'other']) {
        let step = 0;
        const seen = await walk(4, async (n, cursor) => {
          const page = await data.getFeedbackPage(n, cursor, type);
          const id = `gone${step % 30}`;
          await data.write({ kind: 'deleteItem', itemId: id });
          await data.write(putFeedback([feedback('other', `u${step % 9}`, `new${type}${step++}`)]));
          return page;
        });
        const stayed = seen.filter(({ ItemId }) => ItemId.startsWith('i'));
        expect(sorted(stayed)).toEqual(sorted(stay));
      }
    });

    test('a walk over a long list tells each record that stays exactly once and in order, whatever comes and goes', async () => {
      const data = await open();
      const random = createRandom(7);
      // A block holds less than two hundred records; one run of deletions takes several of them away.
      const all = Array.from({ length: 1500 }, (_, i) => feedback('other', 'u', `i${i}`));
      const users = all.map((_, i) => feedback('other', `v${i}`, 'i0'));
      await data.write(putFeedback([...all, ...users]));
      const stays = (i: number) => i % 300 > 240;
      const walks = [
        [data.walkUserFeedback('u', 'other'), (i: number) => feedback('other', 'u', `i${i}`)],
        [data.walkItemFeedback('i0'), (i: number) => feedback('other', `v${i}`, 'i0')],
      ] as const;
      for (const [slices, record] of walks) {
        const seen: Feedback[] = [];
        for await (const slice of slices) {
          seen.push(...slice);
          const from = random.below(5) * 300;
          for (let i = from; i < from + 240; i += 8 + random.below(20)) {
            const { UserId: userId, ItemId: itemId } = record(i);
            if (random.below(3) === 0) await data.write(putFeedback([record(i)]));
            else await data.write({ kind: 'deleteFeedback', feedbackType: undefined, userId, itemId });
          }
        }
        const stayed = Array.from(all.keys()).filter(stays).map(record);
        const ids = new Set(stayed.map((each) => JSON.stringify(each)));
        expect(seen.filter((each) => ids.has(JSON.stringify(each)))).toEqual(stayed);
        expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(seen.length);
      }
      for (const i of [241, 599, 1499])
        expect(await data.getPairFeedback('u', `i${i}`)).toEqual([feedback('other', 'u', `i${i}`)]);
    });

    test('a cursor that was not made here, or for another list, is refused', async () => {
      const data = await open();
      await data.write(putUsers([{ UserId: 'a' }, { UserId: 'b' }]));
      const { cursor } = await data.getUsers(1, '');
      expect((await data.getUsers(1, cursor)).rows[0]?.UserId).toBe('b');
      for (const wrong of ['x', '0', `${cursor}x`, `${cursor}=`, cursor.slice(1), 'ÿ', '__proto__']) {
        await expect(data.getUsers(1, wrong)).rejects.toEqual(code('INVALID_CURSOR'));
      }
      await expect(data.getItems(1, cursor)).rejects.toEqual(code('INVALID_CURSOR'));
      await expect(data.getFeedbackPage(1, cursor)).rejects.toEqual(code('INVALID_CURSOR'));
    });
  });
}
