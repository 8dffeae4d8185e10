/**
 * A service that begins empty and lives through its first events, beside simple ways that are alive: each like is a question
 * before it is told. `npx tsx bench/quality/first-events.ts SET.csv [--events 2000] [--every 500]`; the set has lines `user,item,time`.
 * Nothing is posted but likes. The first fit comes 3 seconds after the first like, as by default, and further ones as asked for.
 */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { parseNumber } from '../../src/cli/common/options.ts';
import { defaultConfig } from '../../src/config/config.ts';
import { getOrPut } from '../../src/domain/get-or-put.ts';
import { DecayedCounter } from '../../src/evaluate/live-baselines.ts';
import { OwnService } from '../../src/evaluate/own-service.ts';
import { topRows } from '../../src/model/evaluation/ranker.ts';

interface Like {
  readonly user: string;
  readonly item: number;
  readonly timeMs: number;
}

const N = 10;
const HALF_LIVES_HOURS = [1, 12, 48, 168, 720, Number.POSITIVE_INFINITY];
const STRETCHES = 10;
const SETTLE_MS = 3000;

/** Sums of gains by way and group of questions, and their number. */
const table = new Map<string, Map<string, { sum: number; count: number }>>();

function note(way: string, groups: readonly string[], place: number): void {
  const gain = place < 0 ? 0 : 1 / Math.log2(place + 2);
  for (const group of groups) {
    const cell = getOrPut(
      getOrPut(table, way, () => new Map()),
      group,
      () => ({ sum: 0, count: 0 }),
    );
    cell.sum += gain;
    cell.count++;
  }
}

function readSet(path: string, events: number): { likes: Like[]; items: string[] } {
  const rows = new Map<string, number>();
  const lines = readFileSync(path, 'utf8').trim().split('\n').slice(1);
  const all = lines.map((line) => line.split(',') as [string, string, string]);
  all.sort((a, b) => Number(a[2]) - Number(b[2]));
  const likes = all.slice(0, events).map(([user, id, time]) => ({
    user,
    item: getOrPut(rows, id, () => rows.size),
    timeMs: Number(time) * 1000,
  }));
  return { likes, items: [...rows.keys()] };
}

/** Sums of the cosine of who liked both, over what one person likes. */
function cosine(
  likers: ReadonlyMap<number, readonly string[]>,
  of: ReadonlyMap<string, Set<number>>,
  mine: ReadonlySet<number>,
  out: Float64Array,
) {
  out.fill(Number.NEGATIVE_INFINITY);
  for (const item of mine)
    for (const user of likers.get(item)!)
      for (const other of of.get(user)!)
        out[other] =
          Math.max(0, out[other]!) + 1 / Math.sqrt(likers.get(item)!.length * likers.get(other)!.length);
}

async function live(path: string, { events, every }: { events: number; every: number }): Promise<void> {
  const { likes, items } = readSet(path, events);
  let nowMs = likes[0]!.timeMs - 1000;
  const began = nowMs - performance.now();
  const service = new OwnService('furze-first-');
  const types = { positive_feedback_types: ['like'], read_feedback_types: ['read'] };
  const elapsedMs = () => performance.now() + nowMs - began;
  await service.start(
    defaultConfig({ recommend: { data_source: types } }),
    {},
    { clock: () => nowMs, elapsedMs },
  );
  const counters = HALF_LIVES_HOURS.map((hours) => new DecayedCounter(items.length, hours * 3_600_000));
  const byUser = new Map<string, Set<number>>();
  const likers = new Map<number, string[]>();
  const scores = new Float64Array(items.length);
  for (const [at, { user, item, timeMs }] of likes.entries()) {
    nowMs = Math.max(nowMs, timeMs);
    const mine = getOrPut(byUser, user, () => new Set<number>());
    if (!mine.has(item)) {
      const known = mine.size > 0 ? ['likes', `${Math.floor((STRETCHES * at) / likes.length)}`] : ['none'];
      const list = (await service.send(`/api/recommend/${user}?n=${N}`)) as string[];
      note('served', known, list.indexOf(items[item]!));
      const read = Uint32Array.from(mine).sort();
      for (const [scale, counter] of counters.entries())
        note(
          `most liked, ${HALF_LIVES_HOURS[scale]} h`,
          known,
          topRows(counter.scores, N, read).indexOf(item),
        );
      cosine(likers, byUser, mine, scores);
      note('item cosine', known, topRows(scores, N, read).indexOf(item));
      for (const counter of counters) counter.add(item, timeMs);
      mine.add(item);
      getOrPut(likers, item, () => []).push(user);
    }
    const Timestamp = new Date(timeMs).toISOString();
    await service.send('/api/feedback', [
      { FeedbackType: 'like', UserId: user, ItemId: items[item]!, Timestamp },
    ]);
    if (at === 0) nowMs += SETTLE_MS;
    if (at === 0 || (at + 1) % every === 0) await service.fit(() => {});
  }
  await service.close();
  const groups = ['none', 'likes', ...Array.from({ length: STRETCHES }, (_, stretch) => `${stretch}`)];
  const cells = (way: string, tell: (cell: { sum: number; count: number }) => string) =>
    groups.map((group) => (table.get(way)?.has(group) ? tell(table.get(way)!.get(group)!) : '-')).join(' | ');
  console.log(`| NDCG@10 | ${groups.join(' | ')} |\n|---|${'---|'.repeat(groups.length)}`);
  console.log(`| questions | ${cells('served', ({ count }) => `${count}`)} |`);
  for (const way of table.keys())
    console.log(`| ${way} | ${cells(way, ({ sum, count }) => (sum / count).toFixed(3))} |`);
}

await new Command('first-events')
  .argument('<set>', 'lines `user,item,time` below a line of names')
  .option('--events <count>', 'events to live through', parseNumber, 2000)
  .option(
    '--every <count>',
    'events from one fit to the next; none but the first by default',
    parseNumber,
    Number.POSITIVE_INFINITY,
  )
  .action(live)
  .parseAsync();
