import { describe, expect, it } from 'vitest';
import { likelyPositive } from '../../src/domain/feedback-troubles.ts';
import { likelyEncoding } from '../../src/exchange/guess-encoding.ts';
import { readPlan } from '../../src/exchange/import-plan.ts';
import { otherKeyOf, readProposed } from '../../src/exchange/proposals.ts';
import { recordOf } from '../../src/exchange/rows-to-records.ts';
import { readTime } from '../../src/exchange/time-formats.ts';

const day = (at: number) => `2024-03-${String(1 + (at % 28)).padStart(2, '0')}`;
const textOf = (names: string, row: (at: number) => string, rows = 120) =>
  `${names}\n${Array.from({ length: rows }, (_, at) => row(at)).join('\n')}\n`;
const text = (head: string) => ({ path: 'a.csv', head, isWhole: true });
/** The columns of what is proposed. */
async function columnsOf(head: string) {
  const { plan } = await readProposed(text(head), {});
  return Object.fromEntries(Object.entries(plan.mapping).map(([field, at]) => [field, plan.columns[at]]));
}

describe('a key by what its column holds', () => {
  it.each(['Mediennummer', 'rating_key', 'release_id', 'bid', 'Barkod', 'ISBN/UID'])(
    '%s goes before the titles that it goes with',
    async (key) => {
      const head = textOf(
        `Username,Title,${key},date`,
        (at) => `u${at % 17},Tea ${at % 9},${500 + (at % 9)},${day(at)}`,
      );
      expect(await columnsOf(head)).toMatchObject({ UserId: 'Username', ItemId: key, Comment: 'Title' });
    },
  );

  it('is that of the titles where no other goes with them, unless all are alike', async () => {
    const named = (title: (at: number) => string) =>
      textOf('Username,Title,note_id,date', (at) => `u${at % 17},${title(at)},n${at},${day(at)}`);
    expect(await columnsOf(named((at) => `Tea ${at % 9}`))).toMatchObject({ ItemId: 'Title' });
    const { plan } = await readPlan(text(named(() => '')), {});
    expect(otherKeyOf(plan)).toEqual([]);
  });

  it('of users is another where each order has a number of its own', async () => {
    const head = textOf(
      'customer_id,customer_unique_id,product_id,order_purchase_timestamp',
      (at) => `c${at >> 1},p${(at >> 1) % 13},i${at % 7},${day(at >> 1)} 10:${10 + ((at >> 1) % 50)}:00`,
    );
    expect(await columnsOf(head)).toMatchObject({ UserId: 'customer_unique_id' });
    expect(await columnsOf(head.replaceAll(/^c(\d+)/gm, 'c1'))).toMatchObject({ UserId: 'customer_id' });
  });

  it('is no address where a name stands beside it, and no type that is the name of an event', async () => {
    const sales = textOf(
      'Buyer Name,Purchase Email,Product ID,Event Name,Purchase Date',
      (at) => `Ann,a${at % 9}@ex.com,p${at % 7},Evening ${at % 40},${day(at)}`,
    );
    const columns = await columnsOf(sales);
    expect([columns.UserId, columns.FeedbackType]).toEqual(['Purchase Email', undefined]);
  });
});

it('ratings that are not given, scores, hours and states of others are understood', async () => {
  const { plan } = await readPlan(text('user,item,rating_score\nann,tea,N/A\nann,ale,2\n'), { ratingMin: 4 });
  expect(
    [
      ['ann', 'tea', 'N/A'],
      ['ann', 'ale', '2'],
    ].map((row) => recordOf(row, plan)),
  ).toMatchObject([{ record: { FeedbackType: 'like' } }, { record: { FeedbackType: 'read' } }]);
  expect(readTime('3 de noviembre de 2025 14:22 hs.', 'date')).toBe('2025-11-03T14:22:00Z');
  expect(
    likelyPositive(['view', 'transaction'].map((Name) => ({ Name, Count: 1, Positive: false, Read: false }))),
  ).toEqual(['transaction']);
  const bytes = Uint8Array.from('Öàòà;Íîìåð\nÖÁ-000001;Ê2001\nÖÁ-000002;Ê2002\nÖÁ-000003;Ê2003', (sign) =>
    sign.charCodeAt(0),
  );
  expect(likelyEncoding(bytes).encoding).toBe('windows-1251');
});
