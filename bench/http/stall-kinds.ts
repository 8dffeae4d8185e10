import { createRandom, type Random } from '../../src/domain/random.ts';
import { POSITIVE_TYPES } from './processes.ts';
import { feedbackBatches, itemIdOf, labelsOf, userIdOf, type WorldSize } from './world.ts';

/** A request before it is bytes. */
export interface Ask {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

/** A kind of request, made anew each time it is sent. */
export interface Kind {
  readonly name: string;
  readonly make: (at: number) => Ask;
  /** Requests before it that are not measured. */
  readonly before?: (at: number) => Ask;
  /** Ends its connection so long after it was sent. */
  readonly hangUpAfterMs?: number;
}

/** Items in a session. */
const SESSION_RECORDS = 10;
const BATCH_RECORDS = 10_000;
/** Records in the largest batch that is accepted. */
const LARGEST_BATCH = 100_000;
/** Likes of the user with the most. */
const MANY_LIKES = 50_000;
const HEAVY_USER = 'heavy';
/** The item that all users have read. */
const KNOWN_TO_ALL = 1;

/** Data of the service before it is asked: items in batches, then feedback, then one user with very many likes. */
export function* stallWorld(size: WorldSize): Generator<Ask> {
  const random = createRandom(3);
  for (let from = 0; from < size.items; from += BATCH_RECORDS) {
    const length = Math.min(BATCH_RECORDS, size.items - from);
    yield post(
      '/api/items',
      Array.from({ length }, (_, at) => item(itemIdOf(from + at), random)),
    );
  }
  for (const records of feedbackBatches(size, BATCH_RECORDS)) yield post('/api/feedback', records);
  const all = Array.from({ length: size.users }, (_, user) => like(userIdOf(user), itemIdOf(KNOWN_TO_ALL)));
  yield post('/api/feedback', all);
  yield likesOf(HEAVY_USER, size);
}

/** Every kind that walks, merges, sorts or packs something that may be long. */
export function stallKinds(size: WorldSize): Kind[] {
  const random = createRandom(4);
  return [
    ...writes(size, random),
    ...deletions(size),
    ...lists(size, random),
    ...placements(size, random),
    ...walks(),
    ...pages(),
  ];
}

function writes(size: WorldSize, random: Random): Kind[] {
  const anItem = () => itemIdOf(random.below(size.items));
  const batch = (name: string, length: number): Kind => ({
    name: `a batch of ${length.toLocaleString('en')} items`,
    make: (at) =>
      post(
        '/api/items',
        Array.from({ length }, (_, i) => item(`${name}-${at}-${i}`, random)),
      ),
  });
  const likes = (userIdAt: (i: number) => string, length: number) =>
    post(
      '/api/feedback',
      Array.from({ length }, (_, i) => like(userIdAt(i), anItem())),
    );
  return [
    { name: 'one item', make: (at) => post('/api/item', item(`one-${at}`, random)) },
    batch('batch', BATCH_RECORDS),
    batch('large', LARGEST_BATCH),
    {
      name: 'a change of an item',
      make: () => ({ method: 'PATCH', path: `/api/item/${anItem()}`, body: { IsHidden: true } }),
    },
    {
      name: 'another category of an item',
      make: () => ({ method: 'PUT', path: `/api/item/${anItem()}/category/large` }),
    },
    { name: 'one like', make: (at) => post('/api/feedback', [like(userIdOf(at), anItem())]) },
    { name: 'a like of a user with 50,000', make: () => post('/api/feedback', [like(HEAVY_USER, anItem())]) },
    {
      name: 'a batch of 100,000 likes of old users',
      make: () => likes(() => userIdOf(random.below(size.users)), LARGEST_BATCH),
    },
    {
      name: 'a batch of 100,000 likes of new users',
      make: (at) => likes((i) => `new-${at}-${i}`, LARGEST_BATCH),
    },
  ];
}

function deletions(size: WorldSize): Kind[] {
  return [
    {
      name: 'the deletion of a user with 50,000 likes',
      before: (at) => likesOf(`gone-${at}`, size),
      make: (at) => ({ method: 'DELETE', path: `/api/user/gone-${at}` }),
    },
    {
      name: 'the deletion of an item that all users like',
      before: (at) =>
        post(
          '/api/feedback',
          Array.from({ length: size.users }, (_, user) => like(userIdOf(user), `gone-item-${at}`)),
        ),
      make: (at) => ({ method: 'DELETE', path: `/api/item/gone-item-${at}` }),
    },
  ];
}

function lists(size: WorldSize, random: Random): Kind[] {
  const anItem = () => itemIdOf(random.below(size.items));
  const session = (length: number, itemId: () => string) =>
    post(
      '/api/session/recommend',
      Array.from({ length }, () => like('', itemId())),
    );
  const popular = () => itemIdOf(Math.floor(1000 * random.float()));
  return [
    { name: 'a session of 10 new items', make: () => session(SESSION_RECORDS, anItem) },
    { name: 'a session of 10 popular items', make: () => session(SESSION_RECORDS, popular) },
    { name: 'a session of 1,000 items', make: () => session(1000, anItem) },
    get('/api/latest'),
    {
      ...get('/api/latest', 'after a batch of items'),
      before: (at) =>
        post(
          '/api/items',
          Array.from({ length: BATCH_RECORDS }, (_, i) => item(`late-${at}-${i}`, random)),
        ),
    },
    get('/api/latest?n=10000&offset=10000'),
    get('/api/latest/small-1'),
    get('/api/latest/nowhere'),
    get('/api/popular'),
    { ...get('/api/popular', 'after a batch of likes'), before: () => likesOf(HEAVY_USER, size) },
    get('/api/popular?n=10000&offset=10000'),
    get('/api/popular/large', 'of half the items'),
    get('/api/popular/large?n=10000&offset=10000', 'of half the items'),
    get('/api/popular/small-1'),
    { ...get('/api/item/{id}/neighbors', 'by labels'), make: () => ask(`/api/item/${anItem()}/neighbors`) },
    {
      ...get('/api/item/{id}/neighbors?n=10000', 'by labels'),
      make: () => ask(`/api/item/${anItem()}/neighbors?n=10000`),
    },
    get(`/api/user/${userIdOf(0)}/neighbors`),
    get(`/api/user/${HEAVY_USER}/neighbors`, 'with 50,000 likes'),
    {
      ...get(`/api/user/${HEAVY_USER}/neighbors?n=100`, 'with 50,000 likes, hung up'),
      hangUpAfterMs: 20,
    },
    get('/api/recommend/nobody/nowhere', 'of an unknown user and category'),
    get('/api/recommend/nobody?n=100&offset=9000', 'of an unknown user'),
    get('/api/recommend/nobody?n=10000&offset=10000', 'of an unknown user'),
    { ...get('/api/recommend/{id}'), make: (at) => ask(`/api/recommend/${userIdOf(100 + at)}`) },
    {
      ...get(`/api/recommend/${HEAVY_USER}`, 'after one of 50,000 likes'),
      before: () => post('/api/feedback', [like(HEAVY_USER, anItem())]),
    },
    ...questions(anItem),
    {
      ...get('/api/recommend/{id}/explain/{item}'),
      make: () => ask(`/api/recommend/${HEAVY_USER}/explain/${anItem()}`),
    },
  ];
}

/** Filter of one question beside a category: a list is made for it. */
function questions(anItem: () => string): Kind[] {
  const excluded = () => Array.from({ length: 1000 }, anItem).join(',');
  const wishes: readonly (readonly [string, () => string])[] = [
    ['label=label-1', () => 'label=label-1'],
    ['not-label=label-1', () => 'not-label=label-1'],
    ['boost=label-1:2', () => 'boost=label-1:2&boost=label-2:3&boost=label-3:0.5&boost=label-4:2'],
    ['exclude={1,000 items}', () => `exclude=${excluded()}`],
  ];
  const users = [
    ['nobody', 'of an unknown user'],
    [userIdOf(1), ''],
    [HEAVY_USER, 'with 50,000 likes'],
  ] as const;
  return users.flatMap(([userId, of]) => [
    ...wishes.map(([name, wish]) => ({
      name: `GET /api/recommend/{id}?${name} ${of}`.trimEnd(),
      make: () => ask(`/api/recommend/${userId}?n=100&${wish()}`),
    })),
    { ...get('/api/recommend/{id}/large', of), make: () => ask(`/api/recommend/${userId}/large?n=100`) },
    { ...get('/api/recommend/{id}/small-1', of), make: () => ask(`/api/recommend/${userId}/small-1?n=100`) },
  ]);
}

/** Lists of a placement with 1,000 rules: conditions of its filter, exclusions, pins, boosts. */
function placements(size: WorldSize, random: Random): Kind[] {
  // Each another one; of a small catalogue some are unknown.
  const items = (length: number) =>
    Array.from({ length }, (_, at) => itemIdOf(at * Math.max(1, Math.floor(size.items / length))));
  const conditions = Array.from({ length: 120 }, () => ({ label: labelsOf(random)[0]! }));
  const change = (at: number): Ask => ({
    method: 'PUT',
    path: '/api/admin/placements/many',
    body: {
      // Another filter each time, so that none is kept.
      filter: { or: [{ age_days: { gt: 1, lt: 10_000 + at } }, ...conditions] },
      exclude: items(500),
      pins: items(375).map((item, place) => ({ item, place: 2 * place + 1 })),
      boost: Array.from({ length: 4 }, (_, label) => ({ label: `label-${label}`, factor: 2 })),
    },
  });
  const list = (query: string) => ask(`/api/recommend/${userIdOf(2)}?placement=many${query}`);
  return [
    { name: 'PUT of a placement with 1,000 rules', make: change },
    ...['', '&n=1000'].map((query) => ({
      name: `GET /api/recommend/{id}?placement={1,000 rules}${query}, new rules`,
      before: change,
      make: () => list(query),
    })),
    { name: 'GET /api/recommend/{id}?placement={1,000 rules}', make: () => list('') },
  ];
}

function walks(): Kind[] {
  return [
    get(`/api/item/${itemIdOf(KNOWN_TO_ALL)}/feedback`, 'that all users like'),
    get(`/api/item/${itemIdOf(KNOWN_TO_ALL)}/feedback/read`, 'that all users like'),
    get(`/api/user/${HEAVY_USER}/feedback`, 'with 50,000 likes'),
    get(`/api/user/${HEAVY_USER}/feedback/read`, 'with 50,000 likes'),
    get(`/api/feedback/${HEAVY_USER}/${itemIdOf(KNOWN_TO_ALL)}`),
    get(`/api/admin/user/${HEAVY_USER}`, 'with 50,000 likes'),
    get(`/api/admin/item/${itemIdOf(KNOWN_TO_ALL)}`, 'that all users like'),
  ];
}

function pages(): Kind[] {
  return [
    get('/api/items?n=10000'),
    get('/api/users?n=10000'),
    get('/api/feedback?n=10000'),
    get('/api/feedback/read?n=10000'),
    get('/api/items?q=label-1'),
    get('/api/admin/users?n=100&prefix=user-9'),
    get('/api/admin/items?n=100&prefix=item-9'),
    get('/api/admin/summary'),
    get('/api/admin/series?n=10000'),
    get('/api/admin/storage'),
    get('/metrics'),
    get('/apidocs.json'),
  ];
}

function get(path: string, of = ''): Kind {
  return { name: `GET ${path} ${of}`.trimEnd(), make: () => ask(path) };
}

function ask(path: string): Ask {
  return { method: 'GET', path };
}

function post(path: string, body: unknown): Ask {
  return { method: 'POST', path, body };
}

/** Likes of one user, each of another item where there are so many. */
function likesOf(userId: string, { items }: WorldSize): Ask {
  const length = Math.min(MANY_LIKES, items);
  return post(
    '/api/feedback',
    Array.from({ length }, (_, at) => like(userId, itemIdOf(Math.floor((at * items) / length)))),
  );
}

function like(UserId: string, ItemId: string) {
  return { FeedbackType: POSITIVE_TYPES[0], UserId, ItemId, Timestamp: '', Comment: '' };
}

function item(ItemId: string, random: Random) {
  return {
    ItemId,
    IsHidden: false,
    Categories: [random.below(2) === 0 ? 'large' : `small-${random.below(1000)}`],
    Timestamp: '2023-01-01T00:00:00Z',
    Labels: labelsOf(random),
    Comment: '',
  };
}
