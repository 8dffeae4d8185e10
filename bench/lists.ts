// What a list costs: the processor time that a thread takes for one, with all that the default settings ask.
// npm run bench:lists [-- --smoke] [-- --items 27000] [-- --likes 145] [-- --users 512] [-- --rounds 5] [-- --factors movietweetings|retail|equal] [-- --no-heads]
import { parseArgs } from 'node:util';
import { withFolder } from './http/processes.ts';
import { printRows, quantile, ratioRow } from './http/statistics.ts';
import { mainThreadClock } from './http/thread-time.ts';
import { isFactorShape } from './lists/learned-factors.ts';
import { openListWorld } from './lists/world.ts';

/** Limit on a thread's time for a list, milliseconds. */
const AIM_MS = 0.4;
const BLOCK_USERS = 64;

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    items: { type: 'string', default: '27000' },
    // As long as histories are on average in MovieLens 20M.
    likes: { type: 'string', default: '145' },
    users: { type: 'string', default: '512' },
    rounds: { type: 'string', default: '5' },
    // Norms and spectrum of the factors, as learned from a set.
    factors: { type: 'string', default: 'movietweetings' },
    // Without bounds by heads of the items.
    'no-heads': { type: 'boolean', default: false },
  },
});
const items = options.smoke ? 500 : Number(options.items);
const users = options.smoke ? 64 : Number(options.users);
const likes = Number(options.likes);
const { factors } = options;
if (!isFactorShape(factors)) throw new RangeError(`--factors ${factors} is not known`);

await withFolder(async (folder) => {
  const world = await openListWorld(folder, { users, items, likes, factors, heads: !options['no-heads'] });
  const processorMs = mainThreadClock();
  const timesMs: number[] = [];
  let hash = 0;
  for (let round = 0; round <= Number(options.rounds); round++) {
    const beganMs = processorMs();
    hash = 0;
    for (let from = 0; from < users; from += BLOCK_USERS)
      hash = world.make(from, Math.min(users, from + BLOCK_USERS), hash);
    // The first warms up.
    if (round > 0) timesMs.push((processorMs() - beganMs) / users);
  }
  const of = `processor time (hash of all lists ${hash.toString(16)})`;
  const bench = `a list at ${items} items and ${likes} likes, factors as of ${factors}, ${of}`;
  printRows([ratioRow(bench, 'ms', quantile(timesMs, 0), 'the aim, ms', AIM_MS, '<= 1')]);
  await world.close();
});
