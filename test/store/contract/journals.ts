import { describe, expect, test } from 'vitest';
import type { JournalAppend } from '../../../src/store/journals.ts';
import { code } from '../helpers.ts';
import type { StoreUnderTest } from './under-test.ts';

const entry = (journal: string, text: string, more: Partial<JournalAppend> = {}): JournalAppend => ({
  ...{ journal, text, most: 3 },
  ...more,
});

/** Journals: their latest entries, told of, refused as a whole, kept over a restart. */
export function journals({ open, reopen }: StoreUnderTest): void {
  describe('journals', () => {
    const write = (appends: readonly JournalAppend[]) => ({ kind: 'writeJournals', appends }) as const;

    test('the latest entries are kept, with numbers that go on', async () => {
      const data = await open();
      expect(data.local.journal('a')).toEqual([]);
      for (const text of ['1', '2', '3', 'four \0 \ud83d\ude00 "'])
        await data.write(write([entry('a', text)]));
      await data.write(write([entry('b', 'one'), entry('b', 'two', { most: 1 })]));
      expect(data.local.journal('a')).toEqual([
        { number: 2, text: '2' },
        { number: 3, text: '3' },
        { number: 4, text: 'four \0 \ud83d\ude00 "' },
      ]);
      expect(data.local.journal('b')).toEqual([{ number: 2, text: 'two' }]);
      const again = await reopen(data);
      expect(again.local.journalNames()).toEqual(['a', 'b']);
      expect(again.local.journal('b')).toEqual([{ number: 2, text: 'two' }]);
    });

    test('one that is taken away is as one that never was', async () => {
      const data = await open();
      await data.write(write([entry('a', 'x'), entry('b', 'y')]));
      const late = write([entry('a', '', { most: 0, after: 7 })]);
      await expect(data.write(late)).rejects.toEqual(code('CHANGED_MEANWHILE'));
      await data.write(write([entry('a', '', { most: 0, after: 1 })]));
      expect(data.local.journal('a')).toEqual([]);
      expect(data.local.journalNames()).toEqual(['b']);
      const again = await reopen(data);
      expect(again.local.journalNames()).toEqual(['b']);
      await again.write(write([entry('a', 'new', { after: 0 })]));
      expect(again.local.journal('a')).toEqual([{ number: 1, text: 'new' }]);
    });

    test('very long texts push out the oldest, but for the last two', async () => {
      const data = await open();
      const long = 'x'.repeat(2 ** 19);
      for (const at of [1, 2, 3, 4]) await data.write(write([entry('a', long + at, { most: 10 })]));
      expect(data.local.journal('a').map(({ number }) => number)).toEqual([3, 4]);
    });

    test('an entry behind another than the last is refused, with all beside it', async () => {
      const data = await open();
      await data.write(write([entry('a', 'first', { after: 0 })]));
      const late = write([entry('b', 'other'), entry('a', 'late', { after: 0 })]);
      await expect(data.write(late)).rejects.toEqual(code('CHANGED_MEANWHILE'));
      expect(data.local.journal('b')).toEqual([]);
      await data.write(write([entry('a', 'second', { after: 1 })]));
      expect(data.local.journal('a').map(({ text }) => text)).toEqual(['first', 'second']);
    });

    test('listeners are told which have new entries, once these can be read', async () => {
      const data = await open();
      const seen: [string, number][] = [];
      data.onChange((changes) => {
        for (const name of changes.journals) seen.push([name, data.local.journal(name).length]);
        return undefined;
      });
      await data.write(write([entry('a', 'x')]));
      await data.write(write([entry('a', 'y'), entry('b', 'z')]));
      expect(seen).toEqual([
        ['a', 1],
        ['a', 2],
        ['b', 1],
      ]);
    });
  });
}
