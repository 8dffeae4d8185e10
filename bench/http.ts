// The service over HTTP against what it stands on: a bare engine for reads, bare LMDB for writes; and against crowds.
// npm run bench:http [-- --smoke] [-- --part reads|insert|writes|placements|tail|freshness|pass|leaving|stalls|overload] [-- --seconds 300] [-- --only NAME] [-- --rounds 7] [-- --feedback 1000000]
import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { benchFreshness } from './http/freshness.ts';
import { benchInsert } from './http/insert.ts';
import { benchLeaving } from './http/leaving.ts';
import { benchOverload } from './http/overload.ts';
import { benchPass } from './http/pass.ts';
import { benchPlacements } from './http/placements.ts';
import { benchReads, makeReadFolder } from './http/reads.ts';
import { benchStalls } from './http/stalls.ts';
import { printRows, type Row } from './http/statistics.ts';
import { benchTail } from './http/tail.ts';
import { FULL_SIZE, SMOKE_SIZE } from './http/world.ts';
import { benchWrites } from './http/writes.ts';

/** Users of the parts that read, each with a cached list. */
const READ_USERS = 100_000;

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    part: { type: 'string' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    /** Keeps the data of the part `stalls`, which takes its time to make, or takes it from there. */
    folder: { type: 'string' },
    feedback: { type: 'string', default: String(FULL_SIZE.feedback) },
    /** Items of the part `stalls`. */
    items: { type: 'string', default: '100000' },
    /** Fits before the part `stalls`. */
    fit: { type: 'boolean', default: false },
    /** Length of the part `leaving`. */
    seconds: { type: 'string', default: '300' },
  },
});

const { smoke, part } = options;
const size = smoke ? SMOKE_SIZE : { ...FULL_SIZE, feedback: Number(options.feedback) };
const readSize = smoke ? SMOKE_SIZE : { ...size, users: READ_USERS };
const rounds = smoke ? 1 : Number(options.rounds);
const roundMs = smoke ? 100 : 700;
const asked = (name: string) => part === undefined || part === name;

const rows: Row[] = [];
if (asked('insert')) {
  for (const batchRecords of [1000, 10_000]) rows.push(...(await benchInsert(size, batchRecords)));
}
if (asked('writes')) {
  const writeSize = smoke ? SMOKE_SIZE : { users: 20_000, items: 10_000, feedback: 200_000 };
  rows.push(...(await benchWrites(writeSize, smoke ? 1 : 8)));
}
if (asked('reads') || asked('tail')) {
  const folder = await makeReadFolder(readSize);
  if (asked('reads'))
    rows.push(...(await benchReads(folder, readSize, { rounds, roundMs, only: options.only })));
  if (asked('tail')) rows.push(...(await benchTail(folder, readSize, smoke ? 100 : 2000)));
  await rm(folder, { recursive: true });
}
if (asked('placements')) {
  const placed = smoke ? SMOKE_SIZE : { users: 20_000, items: 5000, feedback: 200_000 };
  rows.push(...(await benchPlacements(placed, rounds, roundMs)));
}
if (asked('freshness')) {
  const freshSize = smoke ? SMOKE_SIZE : { users: 20_000, items: 5000, feedback: 400_000 };
  rows.push(...(await benchFreshness(freshSize, smoke ? 5 : 300)));
}
if (asked('stalls')) {
  const times = smoke ? 1 : rounds;
  const { only, folder, fit } = options;
  // With very many items each user's list takes a fit long, and the requests are the same for fewer users.
  const users = fit ? 2000 : 20_000;
  const stallSize = smoke ? SMOKE_SIZE : { users, items: Number(options.items), feedback: 200_000 };
  rows.push(...(await benchStalls(stallSize, { times, only, each: smoke ? 6 : 1, folder, fits: fit })));
}
if (asked('pass')) {
  const passSize = smoke ? SMOKE_SIZE : { users: 20_000, items: 5000, feedback: 200_000 };
  rows.push(...(await benchPass(passSize, smoke ? 200 : 5000)));
}
if (asked('leaving')) {
  const leavingSize = smoke ? SMOKE_SIZE : { users: 20_000, items: 5000, feedback: 200_000 };
  const clients = smoke ? 40 : 1000;
  const durationMs = smoke ? 1000 : Number(options.seconds) * 1000;
  rows.push(...(await benchLeaving(leavingSize, { clients, durationMs })));
}
if (asked('overload')) rows.push(...(await benchOverload(smoke ? 0.01 : 1, options.only)));
printRows(rows);
