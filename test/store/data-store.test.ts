import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/domain/limits.ts';
import type { ChangeSet, DataStore } from '../../src/store/data-store.ts';
import { openDataTables } from '../../src/store/lmdb/data-tables.ts';
import { openDataReader } from '../../src/store/open-store.ts';
import { DirectStore } from './direct-store.ts';
import {
  close,
  feedback,
  NOW_MS,
  openIn,
  putFeedback,
  putItems,
  putUsers,
  sorted,
  storeOptions,
  tempFolder,
  toJson,
  walk,
} from './helpers.ts';

function open(more = {}): DataStore {
  return openIn(tempFolder(), more).data;
}

const code = (value: string) => expect.objectContaining({ code: value });

describe('users and items', () => {
  test('an insert overwrites, the last record of a batch wins, and each row counts once', async () => {
    const data = open();
    expect(
      await data.write(putUsers([{ UserId: 'a' }, { UserId: 'b' }, { UserId: 'a', Comment: 'x' }])),
    ).toEqual({
      rowAffected: 2,
      removed: [],
    });
    expect(await data.getUser('a')).toEqual({ UserId: 'a', Labels: [], Comment: 'x', Subscribe: [] });
    expect(await data.getUser('c')).toBeUndefined();
    expect(await data.getUser('')).toBeUndefined();
    expect(await data.getUser('z'.repeat(5000))).toBeUndefined();
  });

  test('an id keeps its row when it is put again, and gets a new one after a delete', async () => {
    const { write, local } = bound(open());
    await write(putItems([{ ItemId: 'a' }, { ItemId: 'b' }]));
    await write(putItems([{ ItemId: 'a', IsHidden: true }]));
    expect(local.itemRow('a')).toBe(0);
    await write({ kind: 'deleteItem', itemId: 'a' });
    expect(local.itemRow('a')).toBe(-1);
    await write(putItems([{ ItemId: 'a' }]));
    expect(local.itemRow('a')).toBe(2);
    expect(local.itemIdAt(0)).toBeUndefined();
    expect(local.itemIdAt(2)).toBe('a');
    expect(local.itemRowCount).toBe(3);
  });

  test('a patch changes the fields it has and is refused for an unknown id', async () => {
    const data = open();
    await data.write(putItems([{ ItemId: 'i', Labels: ['x'], Timestamp: '2020-01-01', Comment: 'c' }]));
    await data.write({ kind: 'patchItem', itemId: 'i', json: toJson({ IsHidden: true, Comment: null }) });
    expect(await data.getItem('i')).toEqual({
      ItemId: 'i',
      IsHidden: true,
      Categories: [],
      Timestamp: '2020-01-01T00:00:00Z',
      Labels: ['x'],
      Comment: 'c',
    });
    await expect(data.write({ kind: 'patchItem', itemId: 'no', json: toJson({}) })).rejects.toEqual(
      code('ITEM_NOT_FOUND'),
    );
    await expect(data.write({ kind: 'patchUser', userId: 'no', json: toJson({}) })).rejects.toEqual(
      code('USER_NOT_FOUND'),
    );
  });

  test('categories are added once, removed, and need their item', async () => {
    const data = open();
    await data.write(putItems([{ ItemId: 'i' }]));
    const add = { kind: 'addCategory', itemId: 'i', category: 'c' } as const;
    expect((await data.write(add)).rowAffected).toBe(1);
    expect((await data.write(add)).rowAffected).toBe(0);
    expect((await data.getItem('i'))?.Categories).toEqual(['c']);
    expect((await data.write({ ...add, kind: 'removeCategory' })).rowAffected).toBe(1);
    expect((await data.getItem('i'))?.Categories).toEqual([]);
    await expect(data.write({ ...add, itemId: 'no' })).rejects.toEqual(code('ITEM_NOT_FOUND'));
  });

  test('deleting an unknown user or item affects no row', async () => {
    const data = open();
    expect((await data.write({ kind: 'deleteUser', userId: 'no' })).rowAffected).toBe(0);
    expect((await data.write({ kind: 'deleteItem', itemId: 'no' })).rowAffected).toBe(0);
  });
});

describe('feedback', () => {
  test('POST keeps what is there and PUT writes over it, in the store and within a batch', async () => {
    const data = open();
    const first = feedback('other', 'u', 'i', { Comment: 'first' });
    const second = feedback('other', 'u', 'i', { Comment: 'second', Timestamp: '2024-01-01T00:00:00.5Z' });
    expect((await data.write(putFeedback([first, second]))).rowAffected).toBe(1);
    expect((await data.write(putFeedback([second]))).rowAffected).toBe(0);
    expect(await data.getFeedback('other', 'u', 'i')).toEqual(first);
    expect((await data.write(putFeedback([first, second], true))).rowAffected).toBe(1);
    expect(await data.getFeedback('other', 'u', 'i')).toEqual({
      ...second,
      Timestamp: '2024-01-01T00:00:00.500Z',
    });
  });

  test('without a timestamp it happened when it arrived', async () => {
    const data = open();
    await data.write(putFeedback([{ FeedbackType: 'other', UserId: 'u', ItemId: 'i' }]));
    expect((await data.getFeedback('other', 'u', 'i'))?.Timestamp).toBe(
      new Date(NOW_MS).toISOString().replace('.000', ''),
    );
  });

  test('an unknown user or item is created empty, or its records are skipped', async () => {
    const data = open();
    await data.write(putFeedback([feedback('other', '🐝', '__proto__')]));
    expect(await data.getItem('__proto__')).toMatchObject({
      ItemId: '__proto__',
      Timestamp: '',
      Categories: [],
    });
    expect(await data.getUser('🐝')).toEqual({ UserId: '🐝', Labels: [], Comment: '', Subscribe: [] });

    const strict = open({ autoInsertItem: false });
    await strict.write(putItems([{ ItemId: 'i' }]));
    const batch = [feedback('other', 'u', 'i'), feedback('other', 'lonely', 'no')];
    expect((await strict.write(putFeedback(batch))).rowAffected).toBe(1);
    expect(await strict.getUser('lonely')).toBeUndefined();
  });

  test('positive feedback takes the place of read feedback, which may come again after', async () => {
    const data = open();
    const changes: ChangeSet[] = [];
    data.onChange((change) => changes.push(change));
    await data.write(putFeedback([feedback('read', 'u', 'i'), feedback('read', 'u', 'j')]));
    expect((await data.write(putFeedback([feedback('like', 'u', 'i')]))).rowAffected).toBe(1);
    expect((await data.getPairFeedback('u', 'i')).map((each) => each.FeedbackType)).toEqual(['like']);
    expect(changes.at(-1)?.removed.length).toBe(1);
    await data.write(putFeedback([feedback('read', 'u', 'i')]));
    expect(await data.getPairFeedback('u', 'i')).toHaveLength(2);
    // A type that is read and positive is positive.
    await data.write(putFeedback([feedback('star', 'u', 'j'), feedback('like', 'u', 'j')]));
    expect((await data.getPairFeedback('u', 'j')).map((each) => each.FeedbackType).sort()).toEqual([
      'like',
      'star',
    ]);
  });

  test('the typed delete answers what it removed or 404, the pair form answers a list', async () => {
    const data = open();
    const all = [feedback('like', 'u', 'i', { Comment: 'c' }), feedback('other', 'u', 'i')];
    await data.write(putFeedback(all));
    const pair = { kind: 'deleteFeedback', userId: 'u', itemId: 'i' } as const;
    expect(await data.write({ ...pair, feedbackType: 'like' })).toEqual({
      rowAffected: 1,
      removed: [all[0]],
    });
    await expect(data.write({ ...pair, feedbackType: 'like' })).rejects.toEqual(code('FEEDBACK_NOT_FOUND'));
    await expect(data.write({ ...pair, feedbackType: 'never' })).rejects.toEqual(code('FEEDBACK_NOT_FOUND'));
    expect((await data.write({ ...pair, feedbackType: undefined })).removed).toEqual([all[1]]);
    expect((await data.write({ ...pair, feedbackType: undefined })).removed).toEqual([]);
    expect(await data.getItemFeedback('i')).toEqual([]);
    expect((await data.getStats()).feedback).toBe(0);
  });

  test('deleting a user or an item removes its feedback and comments', async () => {
    const data = open();
    const all = ['u', 'v'].flatMap((user) =>
      ['i', 'j'].map((item) => feedback('like', user, item, { Comment: 'c' })),
    );
    await data.write(putFeedback(all));
    await data.write({ kind: 'deleteUser', userId: 'u' });
    await data.write({ kind: 'deleteItem', itemId: 'i' });
    const left = [feedback('like', 'v', 'j', { Comment: 'c' })];
    expect((await data.getFeedbackPage(10, '')).rows).toEqual(left);
    expect((await data.getFeedbackPage(10, '', 'like')).rows).toEqual(left);
    await data.write(putFeedback([feedback('like', 'u', 'i')]));
    expect((await data.getFeedback('like', 'u', 'i'))?.Comment).toBe('');
  });

  test('a refused batch leaves nothing and does not hold up its neighbors', async () => {
    const data = open();
    const good = data.write(putFeedback([feedback('other', 'u', 'i')]));
    const bad = data.write(putFeedback([feedback('other', 'v', 'i'), { UserId: 'v' }]));
    const alsoGood = data.write(putFeedback([feedback('other', 'w', 'i')]));
    expect((await good).rowAffected).toBe(1);
    await expect(bad).rejects.toEqual(code('INVALID_BODY'));
    expect((await alsoGood).rowAffected).toBe(1);
    expect(await data.getUser('v')).toBeUndefined();
    await expect(
      data.write({
        kind: 'putFeedback',
        overwrite: false,
        batch: { json: Uint8Array.of(123), single: false },
      }),
    ).rejects.toEqual(code('INVALID_JSON'));
  });

  test('more feedback types than there are numbers is refused as a whole', async () => {
    const data = open();
    const tooMany = Array.from({ length: 4097 }, (_, i) => feedback(`type ${i}`, 'u', 'i'));
    await expect(data.write(putFeedback(tooMany))).rejects.toEqual(code('INVALID_BODY'));
    expect(await data.getUser('u')).toBeUndefined();
    expect((await data.write(putFeedback(tooMany.slice(1)))).rowAffected).toBe(4096);
    expect(await data.getUserFeedback('u')).toHaveLength(4096);
  });

  test('records that are not stored use up no feedback types', async () => {
    const data = open({ autoInsertUser: false });
    await data.write(putUsers([{ UserId: 'u' }]));
    const skipped = Array.from({ length: 4096 }, (_, i) => feedback(`type ${i}`, 'nobody', 'i'));
    expect((await data.write(putFeedback(skipped))).rowAffected).toBe(0);
    expect((await data.write(putFeedback([feedback('like', 'u', 'i')]))).rowAffected).toBe(1);
    expect(data.local!.feedbackTypes()).toEqual(['like']);
  });

  test('a feedback type without feedback gives its number back when numbers run out', async () => {
    const folder = tempFolder();
    const stores = openIn(folder);
    const { data } = stores;
    const renumbered: boolean[] = [];
    data.onChange((changes) => renumbered.push(changes.renumbersTypes));
    const all = Array.from({ length: 4096 }, (_, i) => feedback(`type ${i}`, i < 4094 ? 'u' : 'v', 'i'));
    await data.write(putFeedback(all));
    const other = openDataReader(join(folder, 'data'));
    expect(other.local!.feedbackTypes()[7]).toBe('type 7');
    const late = (type: string) => putFeedback([feedback(type, 'w', 'i')]);
    await expect(data.write(late('like'))).rejects.toEqual(code('INVALID_BODY'));
    await data.write({ kind: 'deleteFeedback', feedbackType: 'type 7', userId: 'u', itemId: 'i' });
    await data.write(late('like'));
    expect(renumbered).toEqual([false, false, true]);
    await expect(data.write(late('dislike'))).rejects.toEqual(code('INVALID_BODY'));
    expect(await data.getItemFeedback('i', 'type 7')).toEqual([]);
    expect((await data.getUserFeedback('w')).map((each) => each.FeedbackType)).toEqual(['like']);
    other.local!.refresh();
    expect(other.local!.feedbackTypes()[7]).toBe('like');
    expect(await other.getItemFeedback('i', 'like')).toHaveLength(1);
    await other.close();
    await data.write({ kind: 'deleteUser', userId: 'u' });
    const fresh = Array.from({ length: 4093 }, (_, i) => feedback(`new ${i}`, 'x', 'i'));
    expect((await data.write(putFeedback(fresh))).rowAffected).toBe(4093);
    await close(stores);
    const { data: again } = openIn(folder);
    expect(sorted(await again.getUserFeedback('x'))).toEqual(sorted(fresh));
    expect(await again.getUserFeedback('v')).toHaveLength(2);
  });
});

describe('pages', () => {
  test('users come in the byte order of their ids, and the last page has no cursor', async () => {
    const data = open();
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
    const data = open();
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

  test('a cursor that was not made here, or for another list, is refused', async () => {
    const data = open();
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

describe('changes', () => {
  test('listeners hear of a commit before its writes resolve, overwritten feedback with both times', async () => {
    const data = open();
    const heard: string[] = [];
    data.onChange(({ added, removed, feedbackTypes }) => {
      heard.push(
        `+${[...added.timesMs.subarray(0, added.length)]} -${[...removed.timesMs.subarray(0, removed.length)]}`,
      );
      expect(feedbackTypes).toEqual(['other']);
    });
    await data.write(putFeedback([feedback('other', 'u', 'i', { Timestamp: '1970-01-01T00:00:01Z' })]));
    await data.write(putFeedback([feedback('other', 'u', 'i', { Timestamp: '1969-12-31T23:59:59Z' })], true));
    await data.write(putFeedback([feedback('other', 'u', 'i')]));
    expect(heard).toEqual(['+1000 -', '+-1000 -1000']);
  });

  test('in one commit a removal that follows an addition is told after it', async () => {
    const store = new DirectStore(join(tempFolder(), 'data'), { ...storeOptions('') });
    await store.writeGroup([
      putFeedback([feedback('other', 'u', 'i')], true),
      { kind: 'deleteUser', userId: 'u' },
      putFeedback([feedback('other', 'u', 'i')]),
    ]);
    expect(store.changes.map(({ added, removed }) => [added.length, removed.length])).toEqual([
      [1, 0],
      [0, 1],
      [1, 0],
    ]);
    expect(store.changes.map(({ deletedUserRows }) => deletedUserRows)).toEqual([[], [0], []]);
    await store.close();
  });
});

describe('opening', () => {
  test('everything is there after a restart, and other threads of reading see it', async () => {
    const folder = tempFolder();
    const before = openIn(folder);
    await before.data.write(putFeedback([feedback('like', 'u', 'i', { Comment: 'c' })]));
    await close(before);
    const { data } = openIn(folder);
    expect(await data.getUserFeedback('u', 'like')).toEqual([feedback('like', 'u', 'i', { Comment: 'c' })]);
    const reader = openDataReader(join(folder, 'data'));
    expect((await reader.getStats()).feedback).toBe(1);
    expect(reader.local?.feedbackTypes()).toEqual(['like']);
    await reader.close();
  });

  test('a folder of a newer version is refused', async () => {
    const dataPath = join(tempFolder(), 'data');
    const { engine, meta } = openDataTables(dataPath);
    engine.transact(() => meta.put(Buffer.from('format'), Uint8Array.of(99)));
    await engine.close();
    expect(() => openDataReader(dataPath)).toThrow(/format version 99; .* and older/);
  });

  test('a folder of an older version is brought up to date', async () => {
    const folder = tempFolder();
    const stores = openIn(folder);
    await stores.data.write(putFeedback([feedback('like', 'u', 'i')]));
    await close(stores);
    const dataPath = join(folder, 'data');
    const { engine, meta } = openDataTables(dataPath);
    const state = Uint8Array.from(meta.getBinary(Buffer.from('state'))!);
    engine.transact(() => {
      meta.put(Buffer.from('format'), Uint8Array.of(1));
      // The first version kept seven numbers.
      meta.put(Buffer.from('state'), state.subarray(0, 7 * 8));
    });
    await engine.close();
    const { data } = openIn(folder);
    expect(await data.getUserFeedback('u')).toHaveLength(1);
    await data.write(putFeedback([feedback('like', 'u', 'j')]));
    expect(await data.getStats()).toMatchObject({ users: 1, items: 2, feedback: 2 });
    expect(openDataTables(dataPath).meta.getBinary(Buffer.from('format'))![0]).toBe(2);
  });

  test('a closed store takes no more writes', async () => {
    const stores = openIn(tempFolder());
    const last = stores.data.write(putUsers([{ UserId: 'u' }]));
    await close(stores);
    expect((await last).rowAffected).toBe(1);
    await expect(stores.data.write(putUsers([{ UserId: 'v' }]))).rejects.toEqual(code('STORE_UNAVAILABLE'));
    await expect(stores.data.ping()).rejects.toEqual(code('STORE_UNAVAILABLE'));
  });

  test('limits come from the configuration', async () => {
    const data = open({ limits: { ...DEFAULT_LIMITS, batchRecordsMax: 1 } });
    await expect(data.write(putUsers([{ UserId: 'a' }, { UserId: 'b' }]))).rejects.toEqual(
      code('BATCH_TOO_LARGE'),
    );
  });
});

/** The parts of a store that tests of rows use. */
function bound(data: DataStore) {
  return { write: data.write.bind(data), local: data.local! };
}
