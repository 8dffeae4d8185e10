/**
 * `npm run quality:sessions -- [FOLDER[=RATING] ...]`: what comes next? For each positive record after the split, the
 * user's records before it are a session, and the lists for it are judged by the place of the record (HR@20 and MRR@20,
 * whole catalogue less the session).
 */
import { basename } from 'node:path';
import { Command } from 'commander';
import { buildInteractions } from '../../src/dataset/interactions.ts';
import { splitByTime } from '../../src/evaluate/hold-out-protocol.ts';
import { loadKernels } from '../../src/kernel/load-kernels.ts';
import { estimate } from '../../src/model/evaluation/confidence-interval.ts';
import { topRows } from '../../src/model/evaluation/ranker.ts';
import {
  createNeighborTask,
  finishTasks,
  runNeighborTask,
} from '../../src/model/neighbors/fill-neighbor-table.ts';
import { incidenceOfLabels } from '../../src/model/neighbors/incidence.ts';
import { placeSimilarity } from '../../src/model/neighbors/memory-layout.ts';
import { createDraft, type NeighborTable, neighborsAt } from '../../src/model/neighbors/neighbor-table.ts';
import { parseRatings } from '../data-sets/ratings.ts';
import { fitItemKnn, fitSequence } from '../fit-in-thread.ts';
import { readSideLabels } from './labels.ts';
import { pick } from './leave-last-out.ts';
import { RATING_FILES, readText } from './load.ts';

const OWN_SETS = ['data/movietweetings-100k=7', 'data/onlineretail'];
/** Records of a session at most, as the service has it by default. */
const SESSION_RECORDS = 10;
/** Questions asked at most, spread over the time after the split. */
const QUESTIONS_MAX = 5000;
const CUTOFF = 20;
const NEIGHBORS = 100;

interface Session {
  /** The latest first. */
  readonly seeds: readonly number[];
  readonly next: number;
}

/** The known part, and the sessions after it. */
function readSessions(folder: string, ratingMin: number | undefined) {
  const format = /movie|ml-/.test(basename(folder)) ? 'movielens' : 'csv';
  const records = parseRatings(readText(folder, RATING_FILES[format]));
  const kept = records.ratings.flatMap((rating, at) =>
    ratingMin === undefined || rating >= ratingMin ? [at] : [],
  );
  const [users, items, times] = [records.userRows, records.itemRows, records.times].map((column) =>
    pick(column, kept),
  ) as [number[], number[], number[]];
  const { train } = splitByTime(times, 0.2);
  const known = new Set(train);
  const order = Array.from(times.keys()).sort((a, b) => times[a]! - times[b]! || a - b);
  const past = new Map<number, number[]>();
  const sessions: Session[] = [];
  const metItems = new Set(Array.from(train, (at) => items[at]!));
  for (const at of order) {
    const mine = past.get(users[at]!) ?? [];
    const isNew = !mine.includes(items[at]!);
    if (!known.has(at) && isNew && mine.length > 0 && metItems.has(items[at]!)) {
      sessions.push({ seeds: mine.slice(-SESSION_RECORDS).reverse(), next: items[at]! });
    }
    if (isNew) past.set(users[at]!, [...mine, items[at]!]);
  }
  const stride = Math.max(1, sessions.length / QUESTIONS_MAX);
  const asked = Array.from(
    { length: Math.min(sessions.length, QUESTIONS_MAX) },
    (_, at) => sessions[Math.floor(at * stride)]!,
  );
  const interactions = buildInteractions({
    userCount: records.userIds.length,
    itemCount: records.itemIds.length,
    userRows: pick(users, train),
    itemRows: pick(items, train),
  });
  const timeOf = new Map(
    Array.from(train, (at) => [users[at]! * interactions.itemCount + items[at]!, times[at]!]),
  );
  const labels = readSideLabels(format, folder, records.userIds, records.itemIds).itemLabels;
  return {
    interactions,
    asked,
    labels,
    timeAt: (user: number, item: number) => timeOf.get(user * interactions.itemCount + item)!,
  };
}

function fitLabels(labels: readonly (readonly string[])[]): NeighborTable {
  const incidence = incidenceOfLabels((row) => labels[row] ?? [], labels.length);
  const similarity = placeSimilarity(incidence, { listLengthMax: NEIGHBORS });
  const task = createNeighborTask(similarity, createDraft(labels.length, NEIGHBORS));
  runNeighborTask(task, loadKernels(similarity.memory), 0);
  return finishTasks([task], 0);
}

function judge(table: NeighborTable, sessions: readonly Session[], halfLife: number): string {
  const scores = new Float32Array(table.rowCount);
  const ranks = sessions.map(({ seeds, next }) => {
    scores.fill(Number.NEGATIVE_INFINITY);
    seeds.forEach((seed, at) => {
      const { rows, scores: given } = neighborsAt(table, seed);
      rows.forEach((row, entry) => {
        scores[row] = Math.max(0, scores[row]!) + given[entry]! * 2 ** (-at / halfLife);
      });
    });
    return topRows(scores, CUTOFF, Uint32Array.from(seeds).sort()).indexOf(next);
  });
  const show = (values: readonly number[]) => {
    const { mean, halfWidth } = estimate(values);
    return `${mean.toFixed(4)} ± ${halfWidth.toFixed(4)}`;
  };
  const hits = ranks.map((rank) => (rank < 0 ? 0 : 1));
  return `${show(hits)} | ${show(ranks.map((rank) => (rank < 0 ? 0 : 1 / (rank + 1))))}`;
}

const program = new Command('quality:sessions')
  .argument(
    '[folders...]',
    'sets beside those of data/, as FOLDER or FOLDER=RATING with the rating that is positive',
  )
  .option('--only', 'the folders given and not those of data/')
  .action((folders: string[], { only }: { only?: boolean }) => {
    process.stdout.write('| Set | Model | HR@20 | MRR@20 |\n|---|---|---|---|\n');
    for (const set of [...(only ? [] : OWN_SETS), ...folders]) {
      const [, folder = set, rating] = /^(.*?)(?:=([\d.]+))?$/.exec(set) ?? [];
      const { interactions, asked, labels, timeAt } = readSessions(
        folder,
        rating === undefined ? undefined : Number(rating),
      );
      const sequence = fitSequence(interactions, timeAt);
      const knn = fitItemKnn(interactions, loadKernels);
      const rows: [string, NeighborTable, number][] = [
        ['sequence, half-life of 2 items', sequence, 2],
        ['sequence, half-life of 5 items', sequence, 5],
        ['sequence, all alike', sequence, Number.POSITIVE_INFINITY],
        ['common users, half-life of 2 items', knn, 2],
        ['common users, all alike', knn, Number.POSITIVE_INFINITY],
        ...(labels.some((some) => some.length > 0)
          ? [
              ['labels, all alike', fitLabels(labels), Number.POSITIVE_INFINITY] as [
                string,
                NeighborTable,
                number,
              ],
            ]
          : []),
      ];
      for (const [name, table, halfLife] of rows) {
        process.stdout.write(`| ${basename(folder)} | ${name} | ${judge(table, asked, halfLife)} |\n`);
      }
    }
  });
program.parse();
