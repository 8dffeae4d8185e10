import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Feedback } from '../../src/domain/entities.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { formatTimestamp } from '../../src/domain/rfc3339.ts';
import { BulkImport } from '../../src/store/lmdb/bulk/bulk-import.ts';
import { dataPathOf, WRITE_RULES } from '../http/processes.ts';
import { itemIdOf, userIdOf, type WorldSize } from '../http/world.ts';

/** Feedback a user and an item have on average: a hundred million are of 5 million users and 500,000 items. */
const FEEDBACK_OF_USER = 20;
const FEEDBACK_OF_ITEM = 200;
/** Groups of taste; an item belongs to one, a user to three, which most of the user's feedback is for. */
const GROUPS = 32;
const GROUPS_OF_USER = 3;
const OWN_SHARE = 0.7;
/** Exponent of the items' popularity (Zipf); that of the users follows from a square of a uniform. */
const ITEM_EXPONENT = 0.9;
const FIRST_MS = Date.UTC(2024, 0, 1);
const SPAN_MS = 365 * 86_400_000;
const BATCH_RECORDS = 50_000;
const SEED = 13;

/** @returns how many users and items a set of so much feedback has */
export function sizeOf(feedback: number): WorldSize {
  return {
    feedback,
    users: Math.max(50, Math.round(feedback / FEEDBACK_OF_USER)),
    items: Math.max(GROUPS * 4, Math.round(feedback / FEEDBACK_OF_ITEM)),
  };
}

/** Where sets are kept from run to run. */
export function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'furze-bench-scale');
}

/** A row of an item by a power law, in [0, count). */
function powerLaw(random: Random, count: number): number {
  const rest = 1 - ITEM_EXPONENT;
  const rank = (1 + random.float() * ((count + 1) ** rest - 1)) ** (1 / rest);
  return Math.min(count, Math.floor(rank)) - 1;
}

/** Rows of users and items, in the order of time as they came in. */
function* drawFeedback({ feedback, users, items }: WorldSize): Generator<[user: number, item: number]> {
  const random = createRandom(SEED);
  const ofGroup = Math.floor(items / GROUPS);
  for (let made = 0; made < feedback; made++) {
    const user = Math.floor(users * random.float() ** 2);
    const isOwn = random.float() < OWN_SHARE;
    const group = ((Math.imul(user + 1, 0x9e3779b1) >>> 8) + random.below(GROUPS_OF_USER) * 7) % GROUPS;
    yield [user, isOwn ? powerLaw(random, ofGroup) * GROUPS + group : powerLaw(random, items)];
  }
}

/** Time of the feedback that was drawn as number `at`, milliseconds. */
function timeMsOf(at: number, { feedback }: WorldSize): number {
  return FIRST_MS + Math.floor((SPAN_MS * at) / feedback);
}

function* feedbackBatches(size: WorldSize): Generator<Feedback[]> {
  let records: Feedback[] = [];
  let made = 0;
  for (const [user, item] of drawFeedback(size)) {
    records.push({
      FeedbackType: 'like',
      UserId: userIdOf(user),
      ItemId: itemIdOf(item),
      Timestamp: formatTimestamp(timeMsOf(made++, size)),
      Comment: '',
    });
    if (records.length < BATCH_RECORDS) continue;
    yield records;
    records = [];
  }
  if (records.length > 0) yield records;
}

/** Stores the set in a folder whose service is stopped, as `furze import` does. @returns seconds */
export async function importData(folder: string, size: WorldSize): Promise<number> {
  const startMs = performance.now();
  mkdirSync(dataPathOf(folder), { recursive: true });
  const bulk = await BulkImport.begin(dataPathOf(folder), WRITE_RULES);
  try {
    bulk.beginSource();
    for (const records of feedbackBatches(size))
      await bulk.write({ kind: 'putFeedback', overwrite: false, batch: { records } });
    await bulk.finish({ signal: new AbortController().signal, onProgress: () => {} });
  } finally {
    await bulk.discard();
  }
  return (performance.now() - startMs) / 1000;
}
