import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { buildInteractions, type Interactions, rowIndices } from '../../src/dataset/interactions.ts';
import type { Feedback } from '../../src/domain/entities.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { itemsByUsers, usersByItems } from '../../src/model/neighbors/incidence.ts';
import { placeSimilarity } from '../../src/model/neighbors/memory-layout.ts';
import { SimilaritySearch } from '../../src/model/neighbors/similarity-search.ts';
import { neighborsFromStore, type Relation } from '../../src/recommend/neighbors/neighbors-from-store.ts';
import { LmdbLocalReads } from '../../src/store/lmdb/reads/lmdb-local-reads.ts';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { GroupWriter } from '../../src/store/lmdb/writer/group-writer.ts';
import { parseRatings } from '../data-sets/ratings.ts';
import { WRITE_RULES, withFolder } from '../http/processes.ts';
import { median, quantile, type Row, ratioRow } from '../http/statistics.ts';

const RATINGS = new URL('../../data/movietweetings-100k/ratings.dat.gz', import.meta.url);
const K = 100;

/** One row's neighbors on demand: out of the placed matrix, and by walking the store. */
export function benchLive(rowCount: number): Promise<Row[]> {
  return withFolder(async (folder) => {
    const tables = openDataTables(join(folder, 'data'));
    const feedback = readFeedback();
    const writer = new GroupWriter(tables, { ...WRITE_RULES, readFeedbackTypes: [] });
    for (let from = 0; from < feedback.length; from += 10_000) {
      const records = feedback.slice(from, from + 10_000);
      const command = { kind: 'putFeedback', overwrite: false, batch: { records } } as const;
      writer.write([{ kind: 'write', ticket: 0, nowMs: 0, command }]);
    }
    const reads = new LmdbLocalReads(tables);
    const interactions = placedInteractions(reads, feedback);
    const rows = (['users-by-items', 'items-by-users'] as const).map((relation) =>
      benchRelation(reads, relation, interactions, rowCount),
    );
    await tables.engine.close();
    return rows;
  });
}

function readFeedback(): Feedback[] {
  const { userIds, itemIds, userRows, itemRows } = parseRatings(
    gunzipSync(readFileSync(RATINGS)).toString('utf8'),
  );
  return userRows.map((user, at) => ({
    FeedbackType: 'like',
    UserId: userIds[user]!,
    ItemId: itemIds[itemRows[at]!]!,
    Timestamp: '2013-01-01T00:00:00Z',
    Comment: '',
  }));
}

function placedInteractions(reads: LmdbLocalReads, feedback: readonly Feedback[]): Interactions {
  return buildInteractions({
    userCount: reads.userRowCount,
    itemCount: reads.itemRowCount,
    userRows: feedback.map(({ UserId }) => reads.userRow(UserId)),
    itemRows: feedback.map(({ ItemId }) => reads.itemRow(ItemId)),
  });
}

function benchRelation(
  reads: LmdbLocalReads,
  relation: Extract<Relation, 'users-by-items' | 'items-by-users'>,
  interactions: Interactions,
  rowCount: number,
): Row {
  const incidence = relation === 'users-by-items' ? usersByItems(interactions) : itemsByUsers(interactions);
  const placed = placeSimilarity(incidence);
  const search = new SimilaritySearch(placed, loadKernels(placed.memory), 0);
  const step = Math.max(1, Math.floor(incidence.rows.rowCount / rowCount));
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let row = 0; row < incidence.rows.rowCount; row += step) {
    const started = performance.now();
    const walked = neighborsFromStore(reads, relation, row, K, () => true);
    const between = performance.now();
    const found = search.neighborsOfElements(rowIndices(incidence.rows, row), K, row);
    ours.push(performance.now() - between);
    theirs.push(between - started);
    if (found.rows.length !== walked.rows.length) throw new Error(`row ${row}: the two disagree`);
  }
  const slow = `p99 ${quantile(theirs, 0.99).toFixed(1)} ms, ours ${quantile(ours, 0.99).toFixed(2)} ms`;
  const bench = `neighbors of one row, ${relation}`;
  return ratioRow(bench, 'ms, median', median(ours), `walk of the store (${slow})`, median(theirs));
}
