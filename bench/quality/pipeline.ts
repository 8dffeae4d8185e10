/**
 * The served pipeline, judged from end to end: the whole service is started on the training part of a set, its clock
 * standing at the moment of the split, and asked over HTTP for every user of the test.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildInteractions, type CompressedMatrix, rowIndices } from '../../src/dataset/interactions.ts';
import { parseRatings, type RatingRecords } from '../../src/dataset/readers/ratings.ts';
import { splitByTime } from '../../src/dataset/split.ts';
import { type ConfigOverrides, defaultConfig } from '../../src/domain/config.ts';
import { createLogger } from '../../src/domain/log.ts';
import { formatTimestamp } from '../../src/domain/time.ts';
import { type Evaluation, evaluateFullCatalogue } from '../../src/model/evaluation/evaluate.ts';
import { type Service, startService } from '../../src/service.ts';
import { readSideLabels } from './labels.ts';
import { type Format, type LoadOptions, RATING_FILES, readText } from './load.ts';

/** Records sent in one write. */
const BATCH = 10_000;
/** Requests under way at once. */
const CONNECTIONS = 8;
/** The clock moves on by this between two configurations, so that the lists of one are not those of the next. */
const STEP_MS = 1000;
/** A time from here on is in milliseconds: in seconds it would be of the year 5138. */
const MILLISECONDS_FROM = 1e11;

/** A set as a service would have met it. */
interface Timeline {
  readonly records: RatingRecords;
  /** Positions of the records before the split. */
  readonly known: readonly number[];
  readonly isPositive: (position: number) => boolean;
  readonly timeMs: (position: number) => number;
  /** Positives after the split of users and items known before, without pairs liked before. */
  readonly test: CompressedMatrix;
  readonly splitMs: number;
}

/** One way to configure the service, and what it came to. */
export interface PipelineResult {
  readonly name: string;
  readonly evaluation: Evaluation;
  readonly fitSeconds: number;
}

/** `[recommend]` of a configuration; its window of popularity is that of the others. */
type Recommend = NonNullable<ConfigOverrides['recommend']>;

const OFF = {
  enable_collaborative_recommend: false,
  enable_click_through_prediction: false,
} as const;

const ALL_ON = {
  enable_latest_recommend: true,
  enable_popular_recommend: true,
  enable_item_based_recommend: true,
  enable_user_based_recommend: true,
} as const;

/** The default configuration, all recommenders together, other rankings, and each recommender alone. */
const CONFIGURATIONS: readonly (readonly [name: string, recommend: Recommend])[] = [
  ['default', {}],
  ['default, in the collaborative order', { ranker: 'collaborative' }],
  ['with popular', { offline: { enable_popular_recommend: true } }],
  [
    'with popular and item_based',
    { offline: { enable_popular_recommend: true, enable_item_based_recommend: true } },
  ],
  ['all recommenders', { offline: ALL_ON }],
  ['all, in the collaborative order', { ranker: 'collaborative', offline: ALL_ON }],
  ...(['collaborative', 'item_based', 'user_based', 'popular', 'latest'] as const).map(
    (name): [string, Recommend] => [
      `${name} alone`,
      { offline: OFF, online: { fallback_recommend: [name] } },
    ],
  ),
];

/**
 * Runs every configuration over the set, the default one first.
 * @param options also the list lengths at which is measured, the service's threads and its seed
 */
export async function evaluatePipeline(
  format: 'movielens' | 'csv',
  folder: string,
  options: LoadOptions & {
    readonly cutoffs: readonly number[];
    readonly workers: number;
    readonly seed: number;
    readonly only?: string;
  },
  tell: (result: PipelineResult) => void,
): Promise<readonly PipelineResult[]> {
  const timeline = readTimeline(format, folder, options);
  const data = await mkdtemp(join(tmpdir(), 'furze-quality-'));
  try {
    const results: PipelineResult[] = [];
    for (const [name, recommend] of CONFIGURATIONS) {
      if (options.only !== undefined && !name.includes(options.only)) continue;
      const nowMs = timeline.splitMs + (1 + results.length) * STEP_MS;
      const service = await start(data, recommend, nowMs, options);
      try {
        if (results.length === 0) await fill(service, timeline, format, folder);
        const started = performance.now();
        await service.fit();
        const fitSeconds = (performance.now() - started) / 1000;
        const lists = await ask(service, timeline, Math.max(...options.cutoffs));
        results.push({ name, evaluation: judge(timeline, lists, options.cutoffs), fitSeconds });
        tell(results.at(-1)!);
      } finally {
        await service.stop();
      }
    }
    return results;
  } finally {
    await rm(data, { recursive: true, force: true });
  }
}

function readTimeline(
  format: Format & ('movielens' | 'csv'),
  folder: string,
  options: LoadOptions,
): Timeline {
  const records = parseRatings(readText(folder, RATING_FILES[format]));
  const least = options.positive ?? Number.NEGATIVE_INFINITY;
  const isPositive = (at: number) => records.ratings[at]! >= least;
  const liked = records.ratings.map((_, at) => at).filter(isPositive);
  const split = splitByTime(
    liked.map((at) => records.times[at]!),
    options.share,
  );
  const knownLikes = Array.from(split.train, (at) => liked[at]!);
  const splitTime = knownLikes.reduce((latest, at) => Math.max(latest, records.times[at]!), 0);
  // Dates are read as milliseconds, and some files hold those; seconds of our times have ten digits.
  const unitMs = splitTime > MILLISECONDS_FROM ? 1 : 1000;
  const isKnown = new Set(knownLikes);
  const known = records.times
    .map((_, at) => at)
    .filter((at) => isKnown.has(at) || (!isPositive(at) && records.times[at]! <= splitTime));
  const shape = { userCount: records.userIds.length, itemCount: records.itemIds.length };
  const rows = (at: readonly number[]) => ({
    userRows: at.map((one) => records.userRows[one]!),
    itemRows: at.map((one) => records.itemRows[one]!),
  });
  const before = buildInteractions({ ...shape, ...rows(knownLikes) });
  const isTest = (at: number) => {
    const mine = rowIndices(before.byUser, records.userRows[at]!);
    const itsUsers = rowIndices(before.byItem, records.itemRows[at]!);
    return mine.length > 0 && itsUsers.length > 0 && !mine.includes(records.itemRows[at]!);
  };
  const testLikes = Array.from(split.test, (at) => liked[at]!).filter(isTest);
  return {
    records,
    known,
    isPositive,
    timeMs: (at) => records.times[at]! * unitMs,
    test: buildInteractions({ ...shape, ...rows(testLikes) }).byUser,
    splitMs: splitTime * unitMs,
  };
}

function start(
  folder: string,
  recommend: Recommend,
  nowMs: number,
  { workers, seed }: { workers: number; seed: number },
): Promise<Service> {
  const config = defaultConfig({
    database: {
      data_store: `lmdb://${folder}`,
      cache_store: `lmdb://${join(folder, 'cache')}`,
      sync: 'commit',
    },
    server: { port: 0 },
    worker: { threads: workers },
    recommend: {
      ...recommend,
      data_source: { positive_feedback_types: ['like'], read_feedback_types: ['read'] },
      collaborative: { seed },
    },
  });
  return startService({ config, log: createLogger('warn'), clock: () => nowMs });
}

async function fill(
  { data }: Service,
  { records, known, isPositive, timeMs }: Timeline,
  format: Format,
  folder: string,
): Promise<void> {
  const { userIds, itemIds } = records;
  const { userLabels, itemLabels } = readSideLabels(format, folder, userIds, itemIds);
  const firstMs = new Map<number, number>();
  for (const at of known) {
    const row = records.itemRows[at]!;
    firstMs.set(row, Math.min(firstMs.get(row) ?? Number.POSITIVE_INFINITY, timeMs(at)));
  }
  const users = userIds.map((UserId, row) => ({
    UserId,
    Labels: [...userLabels[row]!],
    Comment: '',
    Subscribe: [],
  }));
  // An item is as old as its first record. Those of which nothing is known yet are not there yet.
  const items = [...firstMs].map(([row, ms]) => ({
    ItemId: itemIds[row]!,
    IsHidden: false,
    Categories: [],
    Timestamp: formatTimestamp(ms),
    Labels: [...itemLabels[row]!],
    Comment: '',
  }));
  const feedback = known.map((at) => ({
    FeedbackType: isPositive(at) ? 'like' : 'read',
    UserId: userIds[records.userRows[at]!]!,
    ItemId: itemIds[records.itemRows[at]!]!,
    Timestamp: formatTimestamp(timeMs(at)),
    Comment: '',
  }));
  for (const batch of batches(users)) await data.write({ kind: 'putUsers', batch: { records: batch } });
  for (const batch of batches(items)) await data.write({ kind: 'putItems', batch: { records: batch } });
  for (const batch of batches(feedback)) {
    await data.write({ kind: 'putFeedback', overwrite: true, batch: { records: batch } });
  }
}

function* batches<T>(values: readonly T[]): Generator<T[]> {
  for (let at = 0; at < values.length; at += BATCH) yield values.slice(at, at + BATCH);
}

/** The answer for every user of the test, as item rows. */
async function ask(
  service: Service,
  { records, test }: Timeline,
  n: number,
): Promise<Map<number, Uint32Array>> {
  const rowOf = new Map(records.itemIds.map((id, row) => [id, row]));
  const users = Array.from({ length: test.rowCount }, (_, row) => row).filter(
    (row) => rowIndices(test, row).length > 0,
  );
  const base = `http://${service.address.host}:${service.address.port}/api/recommend`;
  const lists = new Map<number, Uint32Array>();
  let next = 0;
  const work = async () => {
    while (next < users.length) {
      const user = users[next++]!;
      const answer = await fetch(`${base}/${encodeURIComponent(records.userIds[user]!)}?n=${n}`);
      if (!answer.ok) throw new Error(`the service answered ${answer.status}: ${await answer.text()}`);
      lists.set(
        user,
        Uint32Array.from((await answer.json()) as string[], (id) => rowOf.get(id)!),
      );
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  return lists;
}

function judge(
  { test }: Timeline,
  lists: ReadonlyMap<number, Uint32Array>,
  cutoffs: readonly number[],
): Evaluation {
  const ranker = {
    topItems: (userRow: number, k: number) => lists.get(userRow)!.subarray(0, k),
    scoreItems: () => {
      throw new Error('a served list has no scores of other items');
    },
  };
  return evaluateFullCatalogue(ranker, test, test, cutoffs);
}
