import { mkdir } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import { type Effects, NOT_WHOLE } from '../../src/store/commit-effects.ts';
import { openDataTables } from '../../src/store/lmdb/data-tables.ts';
import { FeedbackLoader } from '../../src/store/lmdb/writer/feedback-loader.ts';
import { GroupWriter } from '../../src/store/lmdb/writer/group-writer.ts';
import { dataPathOf, WRITE_RULES } from '../http/processes.ts';
import { itemIdOf, userIdOf, type WorldSize } from '../http/world.ts';
import { drawFeedback, timeMsOf } from './data.ts';

/** Users or items of a transaction. */
const ENTITIES = 50_000;
/** Pairs that are sorted by item at once, 256 MB of them. */
const SIZES = { batchRecords: 65_536, linksMax: 2 ** 25 };
const TYPE = 0;
const NOTHING: Effects = { deletedUserIds: [], deletedItemIds: [], users: [], items: [], feedback: [] };

/**
 * Stores the set in a folder whose service is stopped, sorted by user and item first, as a copy of PostgreSQL is written:
 * for sets of which each record alone would write pages of its own. Takes 12 bytes a feedback. @returns seconds
 */
export async function loadData(folder: string, size: WorldSize): Promise<number> {
  const startMs = performance.now();
  await mkdir(dataPathOf(folder), { recursive: true });
  const tables = openDataTables(dataPathOf(folder));
  try {
    const writer = new GroupWriter(tables, WRITE_RULES);
    for (let from = 0; from < size.users; from += ENTITIES)
      writer.replicate({ ...NOT_WHOLE, parts: [{ ...NOTHING, users: usersFrom(from, size.users) }] });
    for (let from = 0; from < size.items; from += ENTITIES)
      writer.replicate({ ...NOT_WHOLE, parts: [{ ...NOTHING, items: itemsFrom(from, size.items) }] });
    loadFeedback(new FeedbackLoader(tables, [[TYPE, 'like']], SIZES), size);
  } finally {
    await tables.engine.close();
  }
  return (performance.now() - startMs) / 1000;
}

function usersFrom(from: number, count: number): Effects['users'] {
  return Array.from({ length: Math.min(ENTITIES, count - from) }, (_, at) => [
    from + at,
    { UserId: userIdOf(from + at), Labels: [], Subscribe: [], Comment: '' },
  ]);
}

function itemsFrom(from: number, count: number): Effects['items'] {
  return Array.from({ length: Math.min(ENTITIES, count - from) }, (_, at) => [
    from + at,
    { ItemId: itemIdOf(from + at), IsHidden: false, Categories: [], Timestamp: '', Labels: [], Comment: '' },
  ]);
}

/** Hands over each user's feedback by item; of a pair that was drawn twice the earliest, as without `overwrite`. */
function loadFeedback(loader: FeedbackLoader, size: WorldSize): void {
  const users = new Uint32Array(size.feedback);
  const items = new Uint32Array(size.feedback);
  let drawn = 0;
  for (const [user, item] of drawFeedback(size)) {
    users[drawn] = user;
    items[drawn++] = item;
  }
  const ends = new Uint32Array(size.users + 1);
  for (const user of users) ends[user + 1]!++;
  for (let user = 1; user <= size.users; user++) ends[user]! += ends[user - 1]!;
  const order = new Uint32Array(size.feedback);
  for (let at = 0; at < drawn; at++) order[ends[users[at]!]!++] = at;
  for (let user = 0, from = 0; user < size.users; from = ends[user++]!) {
    // By item, and by time where that is the same: records stand in the order in which they came in.
    const own = order.subarray(from, ends[user]!).sort((a, b) => items[a]! - items[b]! || a - b);
    let last = -1;
    for (const at of own) {
      if (items[at] === last) continue;
      last = items[at]!;
      loader.add(user, last, TYPE, timeMsOf(at, size));
    }
  }
  loader.finish();
}
