import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WorkerPool } from '../../src/background/pool/worker-pool.ts';
import { record, type Scene, START_MS, startScene } from './scene.ts';

const USERS = 30;
const ITEMS = 60;
const HIDDEN = 8;
const LIST = 6;

const all = Array.from({ length: ITEMS }, (_, item) => item);
const idOf = (item: number) => `i${item}`;
/** An even or odd taste, every third, a rare one, and an id that has a comma. */
const labelsOf = (item: number) => [
  item % 2 === 0 ? 'even' : 'odd',
  ...(item % 3 === 0 ? ['third'] : []),
  ...(item >= 57 ? ['rare: 1'] : []),
];
const likesOf = (user: number) => all.filter((item) => item % 2 === user % 2 && (item * 7 + user) % 5 < 2);

let scene: Scene;

beforeAll(async () => {
  scene = await startScene({ cache_size: LIST, online: { fallback_recommend: ['popular', 'latest'] } });
  const items = all.map((item) => ({
    ItemId: idOf(item),
    Timestamp: new Date(START_MS - item * 60_000).toISOString(),
    Labels: labelsOf(item),
    Categories: item < 30 ? ['low'] : [],
    IsHidden: item === HIDDEN,
  }));
  await scene.send('POST', '/api/items', items);
  const likes = Array.from({ length: USERS }, (_, user) =>
    likesOf(user).map((item) => record('like', `u${user}`, idOf(item))),
  );
  await scene.send('POST', '/api/feedback', likes.flat());
  await scene.server.service.fit();
});

afterAll(() => scene.server.stop());

const query = (parts: Record<string, readonly string[]>) =>
  Object.entries(parts)
    .flatMap(([name, values]) => values.map((value) => `&${name}=${encodeURIComponent(value)}`))
    .join('');
const recommend = (user: string, n: number, more = '') => scene.ids(`/api/recommend/${user}?n=${n}${more}`);

/** All that may stand in an answer to the user, in no order. */
function wantedOf(
  user: number,
  { exclude, label, not, low }: { exclude: number[]; label: string[]; not: string[]; low: boolean },
): string[] {
  const liked = user < USERS ? likesOf(user) : [];
  return all
    .filter((item) => item !== HIDDEN && !liked.includes(item) && !exclude.includes(item))
    .filter((item) => label.every((name) => labelsOf(item).includes(name)))
    .filter((item) => !not.some((name) => labelsOf(item).includes(name)) && (!low || item < 30))
    .map(idOf)
    .sort();
}

describe('a recommendation that wants some items and not others', () => {
  it('has all of the catalog that it wants and nothing else, once each, page by page', async () => {
    const labels = fc.uniqueArray(fc.constantFrom('even', 'odd', 'third', 'rare: 1', 'nobody has this'), {
      maxLength: 2,
    });
    const boosts = fc.array(
      fc.tuple(fc.constantFrom('even', 'rare: 1', 'nobody has this'), fc.constantFrom('0.5', '3')),
      {
        maxLength: 2,
      },
    );
    await fc.assert(
      fc.asyncProperty(
        fc.nat(USERS + 1),
        fc.record({
          exclude: fc.array(fc.nat(ITEMS + 5), { maxLength: 4 }),
          label: labels,
          not: labels,
          low: fc.boolean(),
        }),
        boosts,
        async (user, wishes, lifts) => {
          const text = query({
            exclude: wishes.exclude.length > 0 ? [wishes.exclude.map(idOf).join(',')] : [],
            label: wishes.label,
            'not-label': wishes.not,
            boost: lifts.map(([label, factor]) => `${label}:${factor}`),
            category: wishes.low ? ['low'] : [],
          }).replaceAll('%2C', ',');
          const whole = await recommend(`u${user}`, 100, text);
          expect([...whole].sort()).toEqual(wantedOf(user, wishes));
          const pages: string[] = [];
          for (let offset = 0; offset < whole.length; offset += 7)
            pages.push(...(await recommend(`u${user}`, 7, `${text}&offset=${offset}`)));
          expect(pages).toEqual(whole);
        },
      ),
      { numRuns: 25, seed: 11 },
    );
  });

  it('puts those of the taste first, though the cached list holds none of them', async () => {
    const cached = await recommend('u0', LIST);
    const rest = await recommend('u0', 3, query({ exclude: cached, label: ['even'] }));
    expect(rest).toHaveLength(3);
    expect(rest.every((id) => Number(id.slice(1)) % 2 === 0 && !cached.includes(id))).toBe(true);
  });

  it('lifts and lowers what has a label, out of the whole catalog', async () => {
    const none = await recommend('u1', 50);
    const numbers = (ids: readonly string[]) => ids.map((id) => Number(id.slice(1)));
    const lifted = await recommend('u1', 50, query({ boost: ['third:1000', 'third:1000'] }));
    expect(numbers(lifted.slice(0, 3)).every((item) => item % 3 === 0)).toBe(true);
    expect(numbers(none.slice(0, 3)).every((item) => item % 3 === 0)).toBe(false);
    // Those that are not lifted keep their order as far as the models rank them.
    const rest = (ids: readonly string[]) => numbers(ids).filter((item) => item % 3 > 0 && item % 2 === 1);
    expect(rest(lifted).slice(0, 3)).toEqual(rest(none).slice(0, 3));
    const lowered = await recommend('u1', 5, query({ boost: ['third:0.001', 'third:0.001'] }));
    expect(numbers(lowered).filter((item) => item % 3 === 0)).toEqual([]);
  });

  it('gives scores that never rise, and leaves the answers without wishes as they are', async () => {
    const before = await recommend('u2', 20);
    const { body } = await scene.server.call('GET', '/api/recommend/u2?n=30&boost=third:3', undefined, {
      'X-API-Version': '2',
    });
    const scores = (body as { Score: number }[]).map(({ Score }) => Score);
    expect(scores).toHaveLength(30);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(await recommend('u2', 20)).toEqual(before);
    expect(await recommend('u2', 20, '&exclude=&label=&boost=')).toEqual(before);
  });

  it('is answered by a worker as by the thread that serves, where that would take it too long', async () => {
    const asked = [
      '?n=40&label=even',
      '?n=40&not-label=third&exclude=i2,i4',
      '?n=40&boost=third:3&boost=even:0.5',
      '?n=40&label=third&category=low',
      '/low?n=40',
      '?n=5&label=rare:+1&offset=1',
    ];
    const answers = () => Promise.all(asked.map((text) => scene.ids(`/api/recommend/u4${text}`)));
    const here = await answers();
    const jobs = vi.spyOn(WorkerPool.prototype, 'run');
    expect(await answers()).toEqual(here);
    expect(jobs).not.toHaveBeenCalled();
    // Very much feedback that neither counts as positive nor is in effect.
    const types = Array.from({ length: 200 }, (_, at) => `later-${at}`);
    for (const type of types)
      await scene.send(
        'POST',
        '/api/feedback',
        all.map((item) => record(type, 'u4', idOf(item), '2999-01-01T00:00:00Z')),
      );
    expect(await answers()).toEqual(here);
    const kinds = jobs.mock.calls.map(([{ kind }]) => kind);
    jobs.mockRestore();
    expect(kinds.filter((kind) => kind === 'question')).toHaveLength(asked.length);
  });

  it('reads an id with a comma in it when that is encoded', async () => {
    await scene.send('POST', '/api/item', { ItemId: 'a,b', Labels: ['comma'], Timestamp: '2024-01-01' });
    expect(await recommend('u3', 5, '&label=comma')).toEqual(['a,b']);
    expect(await recommend('u3', 5, '&label=comma&exclude=a,b')).toEqual(['a,b']);
    expect(await recommend('u3', 5, '&label=comma&exclude=x,a%2Cb')).toEqual([]);
  });

  it.each([
    ['boost=third', 'boost'],
    ['boost=third:0', 'boost'],
    ['boost=third:0.00099', 'boost'],
    ['boost=third:-2', 'boost'],
    ['boost=third:1e3', 'boost'],
    ['boost=third:1001', 'boost'],
    ['boost=:2', 'boost'],
    ['five boosts', 'boost', Array.from({ length: 5 }, () => 'boost=third:2').join('&')],
    ['a long label', 'label', `label=${'x'.repeat(2000)}`],
    ['seventeen labels', 'not-label', Array.from({ length: 17 }, (_, at) => `not-label=l${at}`).join('&')],
    ['1,200 ids', 'exclude', `exclude=${all.map((at) => `${at},`.repeat(20)).join('')}`],
    ['exclude=%ff', 'exclude'],
  ])('refuses %s', async (name, path, text = name) => {
    const { status, body } = await scene.server.call('GET', `/api/recommend/u1?${text}`);
    expect([status, body.code, body.errors[0].path]).toEqual([400, 'INVALID_PARAMETER', path]);
  });
});
