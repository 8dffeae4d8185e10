import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { itemRoutes } from '../../src/http/handlers/items.ts';
import { userRoutes } from '../../src/http/handlers/users.ts';
import { EntityTexts, RecordTexts } from '../../src/http/route/entity-texts.ts';
import { type ChangeSet, FeedbackColumns } from '../../src/store/data-store.ts';

function changeSet(changed: Partial<ChangeSet>): ChangeSet {
  return {
    items: [],
    deletedItemRows: [],
    vectorRows: [],
    journals: [],
    userRows: [],
    deletedUserRows: [],
    added: new FeedbackColumns(),
    removed: new FeedbackColumns(),
    feedbackTypes: [],
    renumbersTypes: false,
    feedbackCommit: 0,
    ...changed,
  };
}

function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

test('whatever is asked and changed, a text is the last one or none, and the newest are there', () => {
  const random = createRandom(9);
  const texts = new RecordTexts(100_000);
  const now = new Map<number, string>();
  let kept = 0;
  for (let step = 0; step < 50_000; step++) {
    const row = Math.floor(1000 * random.float() ** 3);
    const found = texts.find(`id-${row}`);
    if (found !== undefined) {
      kept++;
      expect(found).toBe(now.get(row));
    } else {
      const text = `text ${step}`;
      now.set(row, text);
      texts.put(`id-${row}`, row, text);
      expect(texts.find(`id-${row}`)).toBe(text);
    }
    if (random.below(10) === 0) {
      const gone = random.below(1000);
      texts.drop(gone);
      expect(texts.find(`id-${gone}`)).toBeUndefined();
    }
  }
  expect(kept).toBeGreaterThan(10_000);
});

test('memory is bounded: texts asked for long ago go, and none is kept without room', () => {
  const texts = new RecordTexts(20_000);
  for (let row = 0; row < 1000; row++) texts.put(`id-${row}`, row, 'x'.repeat(100));
  const left = Array.from({ length: 1000 }, (_, row) => texts.find(`id-${row}`)).filter(Boolean);
  expect(left.length).toBeGreaterThan(10);
  expect(left.length).toBeLessThan(100);
  texts.put('long', 1, 'x'.repeat(10_000));
  expect(texts.find('long')).toBeUndefined();
  const none = new RecordTexts(0);
  none.put('a', 1, 'x');
  expect(none.find('a')).toBeUndefined();
});

test('a text that is asked for again after long is not kept by a part of the URL that asked', () => {
  const collect = collector();
  const ids = Array.from({ length: 2000 }, (_, row) => `long-enough-for-a-slice-${row}`);
  const texts = new RecordTexts(4 * 2 ** 20);
  ids.forEach((id, row) => {
    texts.put(id, row, 'text');
  });
  // The half with them becomes the older one.
  for (let row = 2000; row < 2230; row++) texts.put(`other-${row}`, row, 'x'.repeat(4000));
  collect();
  const before = process.memoryUsage().heapUsed;
  for (const id of ids) {
    const url = Buffer.from(`/${id}?${'x'.repeat(15_000)}`).toString('latin1');
    expect(texts.find(url.slice(1, url.indexOf('?')))).toBe('text');
  }
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5 * 2 ** 20);
});

test('a commit drops what it changed and nothing else; a large one drops all of the kind', () => {
  const texts = new EntityTexts(1_000_000);
  const fill = () => {
    for (let row = 0; row < 5; row++) {
      if (texts.users.find(`u${row}`) === undefined) texts.users.put(`u${row}`, row, 'u');
      if (texts.items.find(`i${row}`) === undefined) texts.items.put(`i${row}`, row, 'i');
    }
  };
  const left = () =>
    [0, 1, 2, 3, 4].map((row) => (texts.users.find(`u${row}`) ?? '-') + (texts.items.find(`i${row}`) ?? '-'));
  const item = (row: number) => ({
    row,
    itemId: `i${row}`,
    hidden: false,
    timestampMs: 0,
    categories: [],
    labels: [],
  });
  fill();
  texts.apply(changeSet({ userRows: [0], deletedUserRows: [1], items: [item(2)], deletedItemRows: [3] }));
  expect(left()).toEqual(['-i', '-i', 'u-', 'u-', 'ui']);
  fill();
  texts.apply(changeSet({ userRows: Array.from({ length: 1000 }, (_, at) => at + 10) }));
  expect(left()).toEqual(['-i', '-i', '-i', '-i', '-i']);
  fill();
  texts.apply(changeSet({ items: Array.from({ length: 1000 }, (_, at) => item(at + 10)) }));
  expect(left()).toEqual(['u-', 'u-', 'u-', 'u-', 'u-']);
});

test.each([
  ['user', userRoutes],
  ['item', itemRoutes],
])('a long query behind the id of a %s is not kept along with it', async (kind, routes) => {
  const collect = collector();
  const { handler } = routes.find(
    ({ method, path }) => method === 'GET' && path === `/api/${kind}/{${kind}-id}`,
  )!;
  const idOf = (row: number) => Buffer.from(`long-enough-for-a-slice-${row}`).toString();
  const userAt = (row: number) => ({ UserId: idOf(row), Labels: [], Comment: '', Subscribe: [] });
  const itemAt = (row: number) => ({
    ItemId: idOf(row),
    ...{ IsHidden: false, Categories: [], Timestamp: '', Labels: [], Comment: '' },
  });
  const rowOf = (id: string) => Number(id.slice(id.lastIndexOf('-') + 1));
  const local = { userRow: rowOf, itemRow: rowOf, userAt, itemAt };
  const entityTexts = new EntityTexts(64 * 2 ** 20);
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let row = 0; row < 2000; row++) {
    const url = Buffer.from(`/api/${kind}/${idOf(row)}?${'x'.repeat(15_000)}`).toString('latin1');
    const id = url.slice(url.lastIndexOf('/') + 1, url.indexOf('?'));
    await handler({ params: { [`${kind}-id`]: id } } as never, { data: { local }, entityTexts } as never);
  }
  collect();
  expect(entityTexts[`${kind as 'user' | 'item'}s`].find(idOf(1999))).toContain('slice-1999');
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5 * 2 ** 20);
});
