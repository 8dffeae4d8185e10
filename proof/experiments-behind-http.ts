// Experiments behind HTTP, for prove:experiments: users of known taste ask, tell what they saw, and like some of it.
import { defaultConfig } from '../src/config/config.ts';
import type { Random } from '../src/domain/random.ts';
import { createLogger } from '../src/platform/log/log.ts';
import { startService } from '../src/service/service.ts';

const DAYS = 5;
const USERS_A_DAY = 100;
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 10);
const ITEMS = 20;
/** Entries of both variants where they are the same, and of the second where it is better. */
const LENGTH = 4;
const LENGTH_OF_BETTER = 8;
const AT_ONCE = 20;

interface Told {
  readonly Name: string;
  readonly Variants: readonly {
    Name: string;
    Users: number;
    Responders: number;
    Low?: number;
    High?: number;
  }[];
}

/** Users of each variant, and those who liked something, as it was. */
type Tally = Record<'a' | 'b', { users: number; likers: number }>;

/**
 * Runs experiments for some days, with one look a day. Every second one has a variant that is better by what is known of the users.
 * @returns how many experiments ever had a wrong interval, how many of the better variants were found in the end, and how many sums were
 *   others than what users did
 */
export async function runBehindHttp(random: Random, experiments: number, folder: string) {
  let nowMs = START_MS;
  const names = Array.from({ length: experiments }, (_, at) => `x${at}`);
  const lengthOf = (name: string, variant: 'a' | 'b') =>
    variant === 'b' && Number(name.slice(1)) % 2 === 1 ? LENGTH_OF_BETTER : LENGTH;
  const variantsOf = (name: string) =>
    (['a', 'b'] as const).map((variant) => ({
      name: variant,
      share: 0.5,
      override: { length: lengthOf(name, variant) },
    }));
  const tablesOf = <T>(of: (name: string) => T) => Object.fromEntries(names.map((name) => [name, of(name)]));
  const service = await startService({
    config: defaultConfig({
      server: { port: 0 },
      worker: { threads: 1 },
      database: {
        data_store: `lmdb://${folder}/data`,
        cache_store: `lmdb://${folder}/cache`,
        sync: 'commit',
      },
      placement: tablesOf(() => ({})) as never,
      experiment: tablesOf((name) => ({
        placement: name,
        measure: 'like',
        plan_users: 500,
        variants: variantsOf(name),
      })) as never,
    }),
    log: createLogger('error', process.stderr),
    clock: () => nowMs,
  });
  const url = `http://127.0.0.1:${service.address.port}`;
  const send = async (path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST') => {
    const answer = await fetch(url + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return { answer, json: await answer.json() };
  };
  const Timestamp = '2026-01-01T00:00:00Z';
  await send(
    '/api/items',
    Array.from({ length: ITEMS }, (_, at) => ({ ItemId: `i${at}`, Timestamp })),
  );
  const tallies = new Map(
    names.map((name) => [name, { a: { users: 0, likers: 0 }, b: { users: 0, likers: 0 } } as Tally]),
  );
  const wrong = new Set<string>();
  let found = 0;
  let unequal = 0;
  for (let day = 0; day < DAYS; day++) {
    for (const name of names) await visit(name, day);
    nowMs += DAY_MS + 1;
    // Other rules, so that the report is made anew.
    await send('/api/admin/placements/look', { length: day + 1 }, 'PUT');
    const { Experiments } = (await send('/api/admin/placements')).json as { Experiments: Told[] };
    for (const { Name, Variants } of Experiments) {
      for (const { Name: variant, Users, Responders } of Variants) {
        const { users, likers } = tallies.get(Name)![variant as 'a' | 'b'];
        if (Users !== users || Responders !== likers) unequal++;
      }
      const { Low = Number.NEGATIVE_INFINITY, High = Number.POSITIVE_INFINITY } = Variants[1]!;
      const truth = likersOf(lengthOf(Name, 'b')) - likersOf(lengthOf(Name, 'a'));
      if (truth < Low || truth > High) wrong.add(Name);
      if (day === DAYS - 1 && truth > 0 && Low > 0) found++;
    }
  }
  await service.stop();
  return { wrong: wrong.size, found, unequal, users: experiments * DAYS * USERS_A_DAY };

  async function visit(name: string, day: number): Promise<void> {
    for (let from = 0; from < USERS_A_DAY; from += AT_ONCE) {
      const asked = Array.from({ length: AT_ONCE }, async (_, at) => {
        const UserId = `${name}-${day}-${from + at}`;
        const { answer, json } = await send(`/api/recommend/${UserId}?placement=${name}&n=${ITEMS}`);
        return {
          UserId,
          Recommendation: answer.headers.get('X-Furze-Recommendation')!,
          Items: json as string[],
        };
      });
      const seen = await Promise.all(asked);
      const likes = seen.flatMap(({ UserId, Recommendation, Items }) => {
        const tally = tallies.get(name)![Recommendation.split('.')[1] as 'a' | 'b'];
        const taste = tasteOf(random.float());
        const liked = Items.filter(() => random.float() < taste);
        tally.users++;
        if (liked.length > 0) tally.likers++;
        return liked.map((ItemId) => ({
          FeedbackType: 'like',
          UserId,
          ItemId,
          Timestamp: '',
          Comment: '',
          Recommendation,
        }));
      });
      await send('/api/impressions', seen);
      if (likes.length > 0) await send('/api/feedback', likes);
    }
  }
}

/** Chance that a user likes an item that is seen, from 0.02 to 0.2. */
function tasteOf(point: number): number {
  return 0.02 + 0.18 * point;
}

/** Share of users who like at least one of so many items: the mean over tastes. */
function likersOf(length: number): number {
  const steps = 10_000;
  let sum = 0;
  for (let step = 0; step < steps; step++) sum += 1 - (1 - tasteOf((step + 0.5) / steps)) ** length;
  return sum / steps;
}
