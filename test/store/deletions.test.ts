import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Feedback } from '../../src/domain/entities.ts';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { countEntries } from '../../src/store/lmdb/tables/engine.ts';
import { openDataReader } from '../../src/store/open/thread-stores.ts';
import { DirectStore } from './direct-store.ts';
import { close, feedback, openIn, putFeedback, sorted, storeOptions, tempFolder, walk } from './helpers.ts';

const RECORDS = 9000;
const comment = (i: number) => ({ Comment: i % 50 === 0 ? `c${i}` : '' });

/** One that is to go, by user or by item, and others that share all of its items or users. */
function world(kind: 'user' | 'item') {
  const gone = Array.from({ length: RECORDS }, (_, i) =>
    kind === 'user'
      ? feedback(i % 3 === 0 ? 'like' : 'other', 'gone', `i${i}`, comment(i))
      : feedback(i % 3 === 0 ? 'like' : 'other', `u${i}`, 'gone', comment(i)),
  );
  const left = gone
    .filter((_, i) => i % 40 === 0)
    .map((each) => ({ ...each, ...(kind === 'user' ? { UserId: 'left' } : { ItemId: 'left' }) }));
  const command = (
    kind === 'user' ? { kind: 'deleteUser', userId: 'gone' } : { kind: 'deleteItem', itemId: 'gone' }
  ) as Parameters<DirectStore['write']>[0];
  return { gone, left, command };
}

const allOf = (store: DirectStore, type?: string): Promise<Feedback[]> =>
  walk(1000, (n, cursor) => store.getFeedbackPage(n, cursor, type));

/** What every reader must see from the first transaction on. */
async function expectGone(store: DirectStore, kind: 'user' | 'item', left: readonly Feedback[]) {
  expect(sorted(await allOf(store))).toEqual(sorted(left));
  const likes = left.filter(({ FeedbackType }) => FeedbackType === 'like');
  expect(sorted(await allOf(store, 'like'))).toEqual(sorted(likes));
  expect(await store.getUserFeedback('gone')).toEqual([]);
  expect(await store.getItemFeedback('gone')).toEqual([]);
  const [{ UserId, ItemId }] = left as [Feedback];
  expect(await store.getItemFeedback(ItemId)).toHaveLength(kind === 'user' ? 1 : left.length);
  expect(await store.getUserFeedback(UserId)).toHaveLength(kind === 'user' ? left.length : 1);
}

test.each(['user', 'item'] as const)(
  'a long deletion of a %s is invisible from the first, survives a crash, and leaves no trace',
  async (kind) => {
    const path = join(tempFolder(), 'data');
    const rules = { ...storeOptions(''), positiveFeedbackTypes: [], readFeedbackTypes: [] };
    const { gone, left, command } = world(kind);
    let store = new DirectStore(path, rules);
    await store.write(putFeedback([...gone, ...left]));
    const fresh = feedback('like', kind === 'user' ? 'gone' : 'new', kind === 'user' ? 'new' : 'gone');
    expect((await store.write(command)).rowAffected).toBe(1);
    await expectGone(store, kind, left);
    expect(store.slice()).toBe(true);
    await expectGone(store, kind, left);
    // What comes under the same id meanwhile is another row.
    await store.write(putFeedback([fresh]));
    await store.write({
      ...fresh,
      kind: 'deleteFeedback',
      feedbackType: 'like',
      userId: fresh.UserId,
      itemId: fresh.ItemId,
    });
    const removed = store.changes.reduce((sum, each) => sum + each.removed.length, 0);
    expect(removed).toBeGreaterThan(1);
    expect(removed).toBeLessThan(RECORDS);
    await store.close();

    store = new DirectStore(path, rules);
    await expectGone(store, kind, left);
    let slices = 0;
    while (store.slice()) slices++;
    expect(slices).toBeGreaterThan(0);
    await expectGone(store, kind, left);
    expect(await store.getStats()).toMatchObject({ feedback: left.length });
    expect((await store.write(command)).rowAffected).toBe(1);
    expect(store.slice()).toBe(false);
    await store.close();

    const tables = openDataTables(path);
    const entries = (name: 'userFeedback' | 'itemFeedback' | 'comments' | 'typeUsers' | 'deletions') =>
      countEntries(tables[name]);
    expect(entries('comments')).toBe(left.filter(({ Comment }) => Comment !== '').length);
    expect(entries('deletions')).toBe(0);
    expect(entries('typeUsers')).toBe(kind === 'user' ? 2 : left.length);
    expect(entries(kind === 'user' ? 'itemFeedback' : 'userFeedback')).toBe(left.length);
    await tables.engine.close();
  },
);

test.each([1, 10, 1000])(
  'a walk that is amid the feedback of a user who is deleted goes on behind it, %i records a page',
  async (size) => {
    const store = new DirectStore(join(tempFolder(), 'data'), storeOptions(''));
    const { gone, left, command } = world('user');
    const first = Array.from({ length: 30 }, (_, i) => feedback('like', 'first', `i${i}`));
    await store.write(putFeedback([...first, ...gone, ...left]));
    let page = await store.getFeedbackPage(2000, '');
    expect(page.rows.map(({ UserId }) => UserId)).toEqual([
      ...Array(30).fill('first'),
      ...Array(1970).fill('gone'),
    ]);
    await store.write(command);
    const rest: Feedback[] = [];
    for (let pages = 0; page.cursor !== '' && pages < 10_000; pages++) {
      page = await store.getFeedbackPage(size, page.cursor);
      rest.push(...page.rows);
    }
    expect(page.cursor).toBe('');
    expect(rest.map(({ UserId, ItemId }) => [UserId, ItemId])).toEqual(
      left.map(({ UserId, ItemId }) => [UserId, ItemId]),
    );
    await store.close();
  },
);

test('the writer removes what is left of a deletion by itself, and tells of every record', async () => {
  const stores = openIn(tempFolder());
  const { data } = stores;
  let removed = 0;
  data.onChange((changes) => {
    removed += changes.removed.length;
  });
  const { gone, left, command } = world('user');
  await data.write(putFeedback([...gone, ...left]));
  await data.write(command);
  expect(await data.getStats()).toMatchObject({ feedback: left.length });
  await vi.waitFor(() => expect(removed).toBe(RECORDS), 600_000);
  await close(stores);
});

test('a writer that is opened again goes on with a deletion', async () => {
  const folder = tempFolder();
  const { gone, left, command } = world('item');
  const direct = new DirectStore(join(folder, 'data'), storeOptions(folder));
  await direct.write(putFeedback([...gone, ...left]));
  await direct.write(command);
  await direct.close();
  const stores = openIn(folder);
  const reader = openDataReader(join(folder, 'data'));
  await vi.waitFor(async () => {
    reader.local!.refresh();
    expect(await reader.getStats()).toMatchObject({ feedback: left.length });
  }, 600_000);
  await reader.close();
  await close(stores);
});

test('items and users are gone through in order of their rows, over those that are missing', async () => {
  const { data } = openIn(tempFolder());
  const names = Array.from({ length: 9 }, (_, at) => `x${at}`);
  await data.write(putFeedback(names.map((name) => feedback('like', name, name))));
  const { local } = data;
  const left = [1, 2, 5, 7];
  for (const at of [0, 3, 4, 6, 8]) {
    await data.write({ kind: 'deleteItem', itemId: `x${at}` });
    await data.write({ kind: 'deleteUser', userId: `x${at}` });
  }
  local!.refresh();
  for (let from = 0; from < 10; from++) {
    const expected = left.filter((at) => at >= from).map((at) => `x${at}`);
    const items: string[] = [];
    expect(local!.scanItems(from, ({ itemId }) => items.push(itemId))).toBe(-1);
    expect(items).toEqual(expected);
    const users: string[] = [];
    expect(local!.scanUsers(from, (_row, { UserId }) => users.push(UserId))).toBe(-1);
    expect(users).toEqual(expected);
  }
  expect(local!.scanItems(3, () => false)).toBe(6);
  expect(local!.scanUsers(0, () => false)).toBe(2);
});
