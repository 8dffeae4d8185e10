// What a list costs: the processor time that a thread takes for one, with all that the default settings ask.
// npm run bench:lists [-- --smoke] [-- --items 27000] [-- --likes 145] [-- --users 512] [-- --rounds 5]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printRows, quantile } from './http/statistics.ts';
import { mainThreadClock } from './http/thread-time.ts';
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
  },
});
const items = options.smoke ? 500 : Number(options.items);
const users = options.smoke ? 64 : Number(options.users);
const likes = Number(options.likes);

const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
try {
  const world = await openListWorld(folder, { users, items, likes });
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
  const listMs = quantile(timesMs, 0);
  printRows([
    {
      bench: `a list at ${items} items and ${likes} likes, processor time (hash of all lists ${hash.toString(16)})`,
      unit: 'ms',
      furze: listMs,
      reference: 'the aim, ms',
      referenceValue: AIM_MS,
      ratio: listMs / AIM_MS,
      aim: '<= 1',
    },
  ]);
  await world.close();
} finally {
  await rm(folder, { recursive: true });
}
