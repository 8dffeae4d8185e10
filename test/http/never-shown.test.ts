import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { startTestServer, type TestServer } from './start.ts';

/** Items 3n are hidden now and then, items 3n + 1 leave a category, items 3n + 2 are deleted. */
const ITEMS = 48;
const USERS = 10;
/** Items of each kind that are changed, and users that read: each by a loop of its own. */
const CHANGED = 5;
const ASKING = 6;
const ASKED_EACH = 300;
const SPACE = 'text';
const DAY_MS = 86_400_000;

/**
 * What may not be shown: facts such as `hidden i3`, each from the answer to the write that made it true until the write that
 * ends it is sent. Whether a list may hold an item is only asked of what was true all the time from its request to its answer.
 */
class Facts {
  private readonly sinceByFact = new Map<string, number>();
  private count = 0;

  begin(fact: string): void {
    this.sinceByFact.set(fact, ++this.count);
  }

  end(isMeant: (fact: string) => boolean): void {
    for (const fact of this.sinceByFact.keys()) if (isMeant(fact)) this.sinceByFact.delete(fact);
  }

  /** @returns a function that tells which facts have been true from now until it is called */
  watch(): (fact: string) => boolean {
    const before = new Map(this.sinceByFact);
    return (fact) => before.has(fact) && before.get(fact) === this.sinceByFact.get(fact);
  }
}

/** A question for a list: where it is asked, what else it leaves out, and how often an answer had something. */
interface Route {
  readonly path: (user: string, random: Random) => string;
  readonly body?: (random: Random) => unknown;
  /** Leaves out what the user has read. */
  readonly ofUser?: boolean;
  readonly category?: string;
  readonly users?: boolean;
}

/** Answers of which are kept. */
const KEPT = ['for a user', 'of a category', 'placement of recommenders'];
const idOf = (random: Random) => `i${random.below(ITEMS)}`;
const recommend = (more: string): Route => ({
  path: (user, random) =>
    `/api/recommend/${user}${more}${more.includes('?') ? '&' : '?'}n=${1 + random.below(random.below(3) ? 8 : ITEMS)}`,
  ofUser: true,
});
const list = (path: string, more: Omit<Route, 'path'> = {}): Route => ({
  path: (user, random) =>
    `${path.replace('USER', user).replace('ITEM', idOf(random))}${path.includes('?') ? '&' : '?'}n=${ITEMS}&offset=${random.below(3)}`,
  ...more,
});
const vector = (random: Random) => ({ Vector: [random.normal(), random.normal(), 1] });
const session = (random: Random) =>
  [0, 1, 2].map(() => ({ FeedbackType: 'like', UserId: '', ItemId: idOf(random), Timestamp: '' }));
const placement = (name: string, more: Partial<Route> = {}) => ({
  ...recommend(`?placement=${name}`),
  ...more,
});

const VECTOR_ROUTES: Readonly<Record<string, Route>> = {
  'neighbors by vectors': list(`/api/item/ITEM/neighbors?by=${SPACE}&user-id=USER`, { ofUser: true }),
  'a vector': {
    ...list(`/api/vectors/${SPACE}/search?user-id=USER&category=a`, { ofUser: true, category: 'a' }),
    body: vector,
  },
};

const ROUTES: Readonly<Record<string, Route>> = {
  ...VECTOR_ROUTES,
  'for a user': recommend(''),
  'further pages': recommend('?offset=2'),
  'of a category': { ...recommend('/a'), category: 'a' },
  'of categories': { ...recommend('?category=a&category=all'), category: 'a' },
  'with wishes': recommend('?label=common&exclude=i1'),
  'with boosts': recommend('?boost=common:2'),
  'with details': recommend('?details=true'),
  'written back': recommend('?write-back-type=seen'),
  latest: list('/api/latest?user-id=USER', { ofUser: true }),
  'latest of a category': list('/api/latest/a', { category: 'a' }),
  popular: list('/api/popular?user-id=USER', { ofUser: true }),
  'popular of a category': list('/api/popular/a', { category: 'a' }),
  'neighbors of an item': list('/api/item/ITEM/neighbors'),
  'neighbors of an item in a category': list('/api/item/ITEM/neighbors/a', { category: 'a' }),
  'neighbors by rules': list('/api/item/ITEM/neighbors?placement=similar&user-id=USER', { ofUser: true }),
  'neighbors by the rules of lists for a user': list(
    '/api/item/ITEM/neighbors?placement=ruled&user-id=USER',
    {
      ofUser: true,
      category: 'a',
    },
  ),
  'neighbors of a user': list('/api/user/USER/neighbors', { users: true }),
  'a session': { ...list('/api/session/recommend'), body: session },
  'a session in a category': { ...list('/api/session/recommend/a', { category: 'a' }), body: session },
  'a session by rules': {
    ...list('/api/session/recommend?placement=ruled', { category: 'a' }),
    body: session,
  },
  'placement with rules': placement('ruled', { category: 'a' }),
  'placement with a filter': placement('filtered', { category: 'a' }),
  'placement that explores': placement('explored'),
  'placement of recommenders': placement('mixed'),
  'placement because': placement('because'),
  'placement similar': placement('similar'),
  'placement together': placement('together'),
  'placement trending': placement('trending'),
  'placement new': placement('new'),
  'placement continue': placement('continue', { ofUser: false }),
  'experiment interleaved': placement('interleaved'),
  'experiment that splits': placement('varied'),
};

let server: TestServer;
const facts = new Facts();
const counts = new Map<string, number>();
let isOver = false;

beforeAll(async () => {
  const experiment = {
    ...{ traffic: 1, start: '', measure: 'like', counts: 'users' as const, guardrails: [] },
    ...{ horizon_hours: 24, plan_users: 600, alpha: 0.05 },
  };
  const variants = [
    { name: 'now', share: 0.5 },
    { name: 'boosted', share: 0.5, override: { boost: [{ label: 'common', factor: 3 }] } },
  ];
  const kinds = ['because', 'similar', 'together', 'trending', 'new'];
  server = await startTestServer({
    config: {
      recommend: {
        data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read', 'seen'] },
        cache_size: 40,
        offline: {
          enable_latest_recommend: true,
          enable_popular_recommend: true,
          enable_user_based_recommend: true,
          enable_item_based_recommend: true,
          explore_recommend: { popular: 0.1, latest: 0.1 },
        },
        online: { fallback_recommend: ['item_based', 'popular', 'latest'] },
      },
      vectors: { [SPACE]: { dimensions: 3, similarity: 'cosine' } },
      placement: {
        ...Object.fromEntries(kinds.map((kind) => [kind, { kind, fallback: ['popular'] }])),
        continue: { kind: 'continue', begun: ['read', 'seen'], finished: ['like'] },
        ruled: {
          categories: ['a'],
          pins: [
            { item: 'i3', place: 1 },
            { item: 'i6', place: 2 },
          ],
          max_per_label: 40,
        },
        filtered: { filter: { and: [{ category: 'a' }, { age_days: { lt: 900 } }] } },
        explored: { explore: 0.3 },
        mixed: { recommenders: ['popular', 'latest'], new_share: 0.3 },
        interleaved: {},
        varied: {},
      } as never,
      experiment: {
        mixing: { ...experiment, placement: 'interleaved', method: 'interleave', variants },
        splitting: { ...experiment, placement: 'varied', variants },
      } as never,
    },
  });
  await send(
    'POST',
    '/api/items',
    Array.from({ length: ITEMS }, (_, at) => itemOf(at)),
  );
  const vectors = Array.from({ length: ITEMS }, (_, at) => ({
    ItemId: `i${at}`,
    Vector: [Math.sin(at), Math.cos(at), 1],
  }));
  await send('POST', `/api/vectors/${SPACE}`, vectors);
  const likes = Array.from({ length: 40 }, (_, user) =>
    Array.from({ length: ITEMS / 2 }, (_, at) =>
      feedback('like', `other${user}`, 2 * at + (user % 2)),
    ).filter((_, at) => (at + user) % 4 > 0),
  );
  const own = Array.from({ length: USERS }, (_, user) =>
    [1, 4, 7, 10].map((at) => feedback(at < 7 ? 'like' : 'read', `u${user}`, 3 * at + (user % 2))),
  );
  await send('POST', '/api/feedback', [...likes.flat(), ...own.flat()]);
  await server.service.fit();
});
afterAll(() => server.stop());

function itemOf(at: number) {
  const Timestamp = new Date(Date.now() - at * 2 * DAY_MS).toISOString();
  return { ItemId: `i${at}`, Timestamp, Categories: ['a', 'all'], Labels: ['common', `of-${at % 4}`] };
}

function feedback(FeedbackType: string, UserId: string, at: number) {
  return { FeedbackType, UserId, ItemId: `i${at}`, Timestamp: new Date(Date.now() - 1000).toISOString() };
}

async function send(method: string, path: string, body?: unknown) {
  const answer = await server.call(method, path, body);
  expect([path, answer.status, answer.status === 200 ? '' : answer.text]).toEqual([path, 200, '']);
  return answer.body;
}

/** Makes a fact true and untrue again and again. */
async function alternate(
  fact: string,
  make: () => Promise<unknown>,
  undo: () => Promise<unknown>,
  random: Random,
) {
  while (!isOver) {
    await make();
    facts.begin(fact);
    await sleep(random.below(120));
    facts.end((each) => each === fact);
    await undo();
    await sleep(random.below(60));
  }
}

function changeItems(): Promise<void>[] {
  return Array.from({ length: CHANGED }, (_, n) => {
    const random = createRandom(100 + n);
    const path = (at: number) => `/api/item/i${at}`;
    const inA = (at: number) => `${path(at)}/category/a`;
    const patch = (at: number, IsHidden: boolean) => () => send('PATCH', path(at), { IsHidden });
    const [hidden, left, deleted] = [3 * n, 3 * n + 1, 3 * n + 2];
    return [
      alternate(`hidden i${hidden}`, patch(hidden, true), patch(hidden, false), random),
      alternate(
        `not in a: i${left}`,
        random.below(2)
          ? () => send('PATCH', path(left), { Categories: ['all'] })
          : () => send('DELETE', inA(left)),
        () => send('PUT', inA(left)),
        random,
      ),
      alternate(
        `gone i${deleted}`,
        () => send('DELETE', path(deleted)),
        () => send('POST', '/api/item', itemOf(deleted)),
        random,
      ),
    ];
  }).flat();
}

/** Reads, likes, takes back and, now and then, leaves and comes again. */
async function live(user: string, random: Random) {
  while (!isOver) {
    // Feedback on items that are deleted would make them anew.
    const at = 3 * random.below(ITEMS / 3) + random.below(2);
    const what = random.below(30);
    if (what === 0) {
      facts.end((fact) => fact.startsWith(`${user} `));
      await send('DELETE', `/api/user/${user}`);
      facts.begin(`no user ${user}`);
      await sleep(random.below(30));
      facts.end((fact) => fact === `no user ${user}`);
    } else if (what < 6) {
      facts.end((fact) => fact === `${user} i${at}`);
      await send('DELETE', `/api/feedback/${user}/i${at}`);
    } else {
      await send('PUT', '/api/feedback', [feedback(what < 18 ? 'read' : 'like', user, at)]);
      facts.begin(`${user} i${at}`);
    }
    await sleep(random.below(40));
  }
}

/** Asks one list after the other. @returns what should not have been shown */
async function ask(random: Random): Promise<string[]> {
  const faults: string[] = [];
  const names = Object.keys(ROUTES);
  for (let asked = 0; asked < ASKED_EACH; asked++) {
    // Those that are kept as text are asked for again and again.
    const name = random.below(3) > 0 ? KEPT[random.below(KEPT.length)]! : names[random.below(names.length)]!;
    const { path, body, ofUser = false, category, users = false } = ROUTES[name]!;
    const user = `u${random.below(USERS)}`;
    const url = path(user, random);
    const wasAll = facts.watch();
    const answer = await send(body ? 'POST' : 'GET', url, body?.(random));
    const ids = (Array.isArray(answer) ? answer : answer.Items).map((entry: string | { Id: string }) =>
      typeof entry === 'string' ? entry : entry.Id,
    ) as string[];
    const isWrong = (id: string, at: number) =>
      ids.indexOf(id) !== at ||
      (users
        ? wasAll(`no user ${id}`)
        : wasAll(`hidden ${id}`) ||
          wasAll(`gone ${id}`) ||
          (category !== undefined && wasAll(`not in a: ${id}`)) ||
          (ofUser && wasAll(`${user} ${id}`)));
    for (const [at, id] of ids.entries()) if (isWrong(id, at)) faults.push(`${name}: ${id} of ${url}`);
    if (ids.length > 0) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return faults;
}

it('shows nothing hidden, deleted, read, of another category or twice, whatever is written while lists are asked for', async () => {
  const writing = [
    ...changeItems(),
    ...Array.from({ length: USERS }, (_, at) => live(`u${at}`, createRandom(200 + at))),
  ];
  const fitting = (async () => {
    while (!isOver) await server.service.fit();
  })();
  const faults = await Promise.all(Array.from({ length: ASKING }, (_, at) => ask(createRandom(300 + at))));
  isOver = true;
  await Promise.all([...writing, fitting]);
  expect(faults.flat()).toEqual([]);
  // Each list has been seen with something in it.
  expect(Object.keys(ROUTES).filter((name) => !counts.has(name))).toEqual([]);
}, 300_000);
