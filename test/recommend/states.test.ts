import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fillCheckerboard, HOUR_MS, record, type Scene, SECOND_MS, startScene, unreadOf } from './scene.ts';

/** u1 has not read this item, and it is of its taste. */
const ITEM = unreadOf(1)[0]!;
/** Every list in which it stands, u1's cached list among them. */
const LISTS = [
  '/api/latest?n=100',
  '/api/latest/odd?n=100',
  '/api/popular?n=100',
  '/api/recommend/u1?n=2',
  '/api/recommend/u1/odd?n=100',
  '/api/recommend/stranger?n=100',
  '/api/item/i3/neighbors?n=100',
];

let scene: Scene;
beforeAll(async () => {
  scene = await startScene({ online: { fallback_recommend: ['popular', 'latest'] } });
  await fillCheckerboard(scene);
  await scene.server.service.fit();
});
afterAll(() => scene.server.stop());

/** Lists in which the item stands. */
async function standsIn(): Promise<string[]> {
  const answers = await Promise.all(LISTS.map((path) => scene.ids(path)));
  return LISTS.filter((_, at) => answers[at]!.includes(ITEM));
}

async function sessionHolds(): Promise<boolean> {
  const found = await scene.send('POST', '/api/session/recommend?n=100', [record('like', '', 'i3')]);
  return (found as { Id: string }[]).some(({ Id }) => Id === ITEM);
}

/** Makes the list of u1 now, without the item, which is hidden. */
async function makeListAnew(): Promise<void> {
  scene.time.nowMs += 25 * HOUR_MS;
  expect(await scene.ids('/api/recommend/u1?n=2')).not.toContain(ITEM);
}

/** The item as it was inserted, but for the flag. */
function inserted(IsHidden: boolean) {
  const at = Number(ITEM.slice(1));
  const Timestamp = new Date(Date.parse('2024-05-01T00:00:00Z') - at * 60_000).toISOString();
  return { ItemId: ITEM, IsHidden, Timestamp, Categories: ['odd', at < 10 ? 'low' : 'high'] };
}

const setHidden = {
  'an insert': (hidden: boolean) => scene.send('POST', '/api/item', inserted(hidden)),
  'a batch': (hidden: boolean) => scene.send('POST', '/api/items', [inserted(hidden)]),
  'a PATCH': (hidden: boolean) => scene.send('PATCH', `/api/item/${ITEM}`, { IsHidden: hidden }),
};

describe('item visibility (interface specification, 3.1)', () => {
  for (const [how, set] of Object.entries(setHidden)) {
    it(`visible becomes hidden by ${how}, at once and everywhere`, async () => {
      expect(await standsIn()).toEqual(LISTS);
      expect(await sessionHolds()).toBe(true);
      await set(true);
      expect(await standsIn()).toEqual([]);
      expect(await sessionHolds()).toBe(false);
      expect(await scene.send('GET', `/api/item/${ITEM}`)).toMatchObject({ ItemId: ITEM, IsHidden: true });
      await set(false);
    });

    it(`hidden becomes visible by ${how}, in a user's list at the latest after cache_expire`, async () => {
      await set(true);
      await makeListAnew();
      await set(false);
      const live = LISTS.filter((path) => !path.includes('u1?'));
      expect((await standsIn()).filter((path) => live.includes(path))).toEqual(live);
      scene.time.nowMs += 10 * SECOND_MS + 1;
      expect(await standsIn()).toEqual(LISTS);
    });
  }

  it('a hidden item stays usable for training: who likes it is known by it', async () => {
    await scene.send('PATCH', '/api/item/i3', { IsHidden: true });
    await scene.like('someone', 'i3', 'i5');
    await scene.server.service.fit();
    await scene.like('newcomer', 'i3');
    const list = await scene.ids('/api/recommend/newcomer?n=5');
    expect(list.map((id) => Number(id.slice(1)) % 2)).toEqual([1, 1, 1, 1, 1]);
    expect(list).not.toContain('i3');
    await scene.send('PATCH', '/api/item/i3', { IsHidden: false });
  });

  it('a hidden item becomes visible in the lists of before a restart too', async () => {
    await scene.send('PATCH', `/api/item/${ITEM}`, { IsHidden: true });
    await makeListAnew();
    await scene.send('PATCH', `/api/item/${ITEM}`, { IsHidden: false });
    await scene.server.restart();
    scene.time.nowMs += 10 * SECOND_MS + 1;
    expect(await standsIn()).toEqual(LISTS);
  });
});

describe('feedback between a user and an item (interface specification, 3.2)', () => {
  const of = (user: string, item: string) => scene.send('GET', `/api/feedback/${user}/${item}`);
  const shown = async (user: string) => (await scene.ids(`/api/recommend/${user}?n=100`)).includes(ITEM);

  it('positive feedback overwrites the read feedback of the same user and item', async () => {
    await scene.read('a', ITEM);
    expect(await of('a', ITEM)).toMatchObject([{ FeedbackType: 'read' }]);
    await scene.like('a', ITEM);
    expect(await of('a', ITEM)).toMatchObject([{ FeedbackType: 'like' }]);
    expect(await scene.send('GET', '/api/user/a/feedback/read')).toEqual([]);
    expect(await shown('a')).toBe(false);
  });

  it('read feedback with a future time takes effect when the time is reached, also for a cached list', async () => {
    const at = new Date(scene.time.nowMs + HOUR_MS).toISOString();
    await scene.send('POST', '/api/feedback', [record('read', 'u15', ITEM, at)]);
    expect(await shown('u15')).toBe(true);
    // Clocks of nodes may differ by clock_error, 5 seconds.
    scene.time.nowMs += HOUR_MS - 5 * SECOND_MS - 1;
    expect(await shown('u15')).toBe(true);
    scene.time.nowMs += 1;
    expect(await shown('u15')).toBe(false);
    scene.time.nowMs += 24 * HOUR_MS;
    expect(await shown('u15')).toBe(false);
  });

  it('positive feedback with a future time changes the list when the time is reached', async () => {
    const at = new Date(scene.time.nowMs + HOUR_MS).toISOString();
    const taste = async () => (await scene.ids('/api/recommend/e?n=3')).map((id) => Number(id.slice(1)) % 2);
    await scene.like('e', 'i2');
    expect(await taste()).toEqual([0, 0, 0]);
    const later = ['i1', 'i3', 'i5', 'i7', 'i9', 'i11'].map((item) => record('like', 'e', item, at));
    await scene.send('POST', '/api/feedback', later);
    expect(await taste()).toEqual([0, 0, 0]);
    scene.time.nowMs += HOUR_MS;
    expect(await taste()).toEqual([1, 1, 1]);
  });

  it('POST keeps the record of a triple that exists', async () => {
    const old = { ...record('like', 'b', ITEM, '2024-04-01T00:00:00Z'), Comment: 'first' };
    await scene.send('POST', '/api/feedback', [old]);
    const again = { ...record('like', 'b', ITEM, '2024-04-02T00:00:00Z'), Comment: 'second' };
    expect(await scene.send('POST', '/api/feedback', [again])).toEqual({ RowAffected: 0 });
    expect(await of('b', ITEM)).toEqual([old]);
  });

  it('PUT replaces the record of a triple that exists', async () => {
    const at = (Timestamp: string, Comment: string) => ({ ...record('read', 'c', ITEM, Timestamp), Comment });
    await scene.send('POST', '/api/feedback', [at('2024-04-01T00:00:00Z', 'first')]);
    expect(await shown('c')).toBe(false);
    const later = at('2024-06-01T00:00:00Z', 'second');
    expect(await scene.send('PUT', '/api/feedback', [later])).toEqual({ RowAffected: 1 });
    expect(await of('c', ITEM)).toEqual([later]);
    // The new time has not come: the item is unread again.
    expect(await shown('c')).toBe(true);
  });

  it('DELETE of a triple removes it and returns it', async () => {
    const first = { ...record('read', 'u1', ITEM, '2024-04-01T00:00:00Z'), Comment: 'c' };
    const other = { ...record('seen', 'u1', ITEM, '2024-04-02T00:00:00Z'), Comment: '' };
    await scene.send('POST', '/api/feedback', [first, other]);
    expect(await shown('u1')).toBe(false);
    expect(await scene.send('DELETE', `/api/feedback/read/u1/${ITEM}`)).toEqual(first);
    expect(await of('u1', ITEM)).toEqual([other]);
    expect(await shown('u1')).toBe(false);
    expect(await scene.send('DELETE', `/api/feedback/seen/u1/${ITEM}`)).toEqual(other);
    expect(await shown('u1')).toBe(true);
  });

  it('DELETE of a pair removes all of it and returns it', async () => {
    const first = { ...record('read', 'd', ITEM, '2024-04-01T00:00:00Z'), Comment: 'c' };
    const other = { ...record('seen', 'd', ITEM, '2024-04-02T00:00:00Z'), Comment: '' };
    await scene.send('POST', '/api/feedback', [first, other]);
    expect(await scene.send('DELETE', `/api/feedback/d/${ITEM}`)).toEqual([first, other]);
    expect(await of('d', ITEM)).toEqual([]);
    expect(await shown('d')).toBe(true);
  });

  it('deleting a user removes its feedback, and a user of that name begins anew', async () => {
    const odd = (ids: string[]) => ids.map((id) => Number(id.slice(1)) % 2);
    expect(odd(await scene.ids('/api/recommend/u9?n=2'))).toEqual([1, 1]);
    await scene.send('DELETE', '/api/user/u9');
    expect(await scene.send('GET', '/api/user/u9/feedback')).toEqual([]);
    const stranger = await scene.ids('/api/recommend/stranger?n=100');
    expect(await scene.ids('/api/recommend/u9?n=100')).toEqual(stranger);
    await scene.like('u9', 'i2');
    // The ranking moves with each like, so that one may be of the other taste; before they all were.
    const others = odd(await scene.ids('/api/recommend/u9?n=5')).filter((isOdd) => isOdd === 1);
    expect(others.length).toBeLessThan(3);
  });

  it('deleting an item removes its feedback, and an item of that name begins anew', async () => {
    const reader = 'u3';
    const item = unreadOf(3)[0]!;
    await scene.read(reader, item);
    await scene.send('DELETE', `/api/item/${item}`);
    expect(await of(reader, item)).toEqual([]);
    expect(await scene.send('GET', `/api/user/${reader}/feedback/read`)).toEqual([]);
    const lists = ['/api/latest?n=100', '/api/popular?n=100', `/api/recommend/${reader}?n=100`];
    for (const path of lists) expect(await scene.ids(path)).not.toContain(item);
    await scene.send('POST', '/api/item', { ItemId: item, Timestamp: '2024-05-01T00:00:00Z' });
    expect(await scene.send('GET', `/api/item/${item}/feedback`)).toEqual([]);
    const holds = await Promise.all(lists.map(async (path) => (await scene.ids(path)).includes(item)));
    expect(holds).toEqual([true, false, true]);
  });

  it('read feedback is written back for what a recommendation answers', async () => {
    const first = await scene.ids('/api/recommend/u7?n=2&write-back-type=read');
    expect(first).toHaveLength(2);
    for (const item of first) expect(await of('u7', item)).toMatchObject([{ FeedbackType: 'read' }]);
    const next = await scene.ids('/api/recommend/u7?n=2&write-back-type=read&write-back-delay=1h0m0s');
    expect(next.filter((id) => first.includes(id))).toEqual([]);
    expect(await scene.ids('/api/recommend/u7?n=2')).toEqual(next);
    scene.time.nowMs += HOUR_MS;
    const later = await scene.ids('/api/recommend/u7?n=100');
    expect(later.filter((id) => first.includes(id) || next.includes(id))).toEqual([]);
  });

  it('read feedback written back at once counts at once, also where some of a later time waits', async () => {
    // Who is not known yet gets the fallback, and popular items from then on.
    await scene.send('POST', '/api/user', { UserId: 'f' });
    const first = await scene.ids('/api/recommend/f?n=2&write-back-type=read&write-back-delay=1h0m0s');
    expect(await scene.ids('/api/recommend/f?n=2&write-back-type=read')).toEqual(first);
    const next = await scene.ids('/api/recommend/f?n=2&write-back-type=read&write-back-delay=1h0m0s');
    expect(next.filter((id) => first.includes(id))).toEqual([]);
    // A later time does not put off what waits already.
    scene.time.nowMs += HOUR_MS / 2;
    await scene.ids('/api/recommend/f?n=2&write-back-type=read&write-back-delay=1h0m0s');
    scene.time.nowMs += HOUR_MS / 2;
    expect((await scene.ids('/api/recommend/f?n=100')).filter((id) => next.includes(id))).toEqual([]);
  });
});
