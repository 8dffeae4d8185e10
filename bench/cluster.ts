/*
 * `npm run bench:cluster [-- --batches N] [-- --nodes 1,2,4 [--role all] [--round-trip 2]] [-- --passes 1,3] [-- --models 200]`: what PostgreSQL costs. One node writes feedback, is asked for the barrier that every strict read
 * passes, and its copy is made anew; then what requests to one and two servers cost all parts. Rates by processor time, which other work on the machine does not change much.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '../src/domain/random.ts';
import { DEFAULT_LIMITS } from '../src/domain/request-limits.ts';
import { type PostgresDsn, parseDsn } from '../src/store/dsn.ts';
import { openReadyStore, type Stores } from '../src/store/open/open-store.ts';
import { Connection } from '../src/store/postgres/connection.ts';
import { prepareReplica } from '../src/store/postgres/replica-start.ts';
import { startPostgres, type TestPostgres } from '../test/servers/postgres.ts';
import { startRedis } from '../test/servers/redis.ts';
import { measureLists } from './cluster/lists.ts';
import { measureModels } from './cluster/models.ts';
import { measureNodes } from './cluster/nodes.ts';
import { measurePasses } from './cluster/passes.ts';
import { measureRequests } from './cluster/requests.ts';
import { serverCpuMs } from './cluster/server-time.ts';

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    /** Batches of 1,000 feedback that are stored, and then copied. */
    batches: { type: 'string' },
    /** Numbers of nodes that write and are asked at the same time, as 1,2,4,4+1: that table alone; the last with a worker beside them. */
    nodes: { type: 'string' },
    /** Numbers of workers that share a pass over all users' lists, as 1,3: that table alone. */
    passes: { type: 'string' },
    /** MiB of a part of a model that is put into and got out of PostgreSQL and a bucket: that table alone. */
    models: { type: 'string' },
    /** Role of these nodes: servers have no copy of what users do, all others do. */
    role: { type: 'string', default: 'server' },
    /** Milliseconds there and back to PostgreSQL: how many single feedback a second then, that table alone. */
    'round-trip': { type: 'string' },
  },
});
const isSmoke = options.smoke;
const BATCHES = Number(options.batches ?? (isSmoke ? 20 : 300));
const BATCH_RECORDS = 1000;
const COMMITS = isSmoke ? 200 : 2000;
const USERS = 20_000;
const ITEMS = 5000;
const QUESTIONS = isSmoke ? 2000 : 50_000;
const ASKED_AT_ONCE = 64;

const postgres = await startPostgres(['shared_buffers=256MB']);
if (postgres === undefined) console.log('SKIPPED: there is no PostgreSQL on this machine');
else {
  const folder = await mkdtemp(join(tmpdir(), 'furze-cluster-'));
  try {
    if (options.models !== undefined) await measureModels(postgres, Number(options.models));
    else await measureAll(postgres, folder);
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureAll(postgres: TestPostgres, folder: string): Promise<void> {
  if (options.nodes === undefined && options.passes === undefined) {
    await measure(parseDsn(postgres.url) as PostgresDsn, folder, postgres.processId);
    await measureModels(postgres, isSmoke ? 20 : 200);
  }
  const redis = await startRedis();
  if (redis === undefined) {
    console.log('SKIPPED: there is no redis-server and no valkey-server on this machine');
    return;
  }
  const engines = { postgres, redis };
  if (options.passes !== undefined) await measurePasses(engines, folder, options.passes.split(','), isSmoke);
  else if (options.nodes !== undefined) {
    const trip = options['round-trip'];
    const tripMs = trip === undefined ? undefined : Number(trip);
    await measureNodes(engines, folder, options.nodes.split(','), options.role, isSmoke, tripMs);
  } else {
    await measureLists(
      `${postgres.url}?schema=lists`,
      redis.url,
      join(folder, 'lists'),
      isSmoke ? 500 : 20_000,
    );
    await measureRequests(engines, folder, isSmoke);
    if (isSmoke) await measureNodes(engines, folder, ['1', '1+1'], options.role, isSmoke);
  }
  await redis.stop();
}

async function measure(dsn: PostgresDsn, folder: string, server: number): Promise<void> {
  const first = await open(dsn, join(folder, 'first'));
  await row('feedback stored, in batches of 1,000', server, async () => {
    await Promise.all(Array.from({ length: BATCHES }, (_, at) => first.data.write(batch(at))));
    return (await first.data.getStats()).feedback;
  });
  await row(`strict barrier passed, ${ASKED_AT_ONCE} at once`, server, async () => {
    for (let asked = 0; asked < QUESTIONS; asked += ASKED_AT_ONCE)
      await Promise.all(Array.from({ length: ASKED_AT_ONCE }, () => first.data.barrier!.pass()));
    return QUESTIONS;
  });
  const { feedback, bytes } = await first.data.getStats();
  const connection = await Connection.open(dsn, 'bench');
  const [size] = await connection.rows<[number]>(
    `SELECT sum(pg_total_relation_size(oid))::int8 FROM pg_class
     WHERE relnamespace = 'furze'::regnamespace AND relkind = 'r' AND relname <> 'changes'`,
  );
  const [kept] = await connection.rows<[number]>(`SELECT pg_total_relation_size('furze.changes')`);
  await connection.close();
  await followed(dsn, folder, server, first);
  await close(first);
  await row('records copied into a new copy', server, async () => {
    let copied = 0;
    await prepareReplica(dsn, join(folder, 'second'), (records) => {
      copied = records;
    });
    return copied;
  });
  const perFeedback = (all: number) => (all / feedback).toFixed(1);
  console.log(
    `bytes a feedback: ${perFeedback(size![0])} in PostgreSQL, ${perFeedback(kept![0])} more for a day in changes, ${perFeedback(bytes)} in the copy`,
  );
}

/** Costs of a commit: of one node alone, and of two nodes of which one follows. */
async function followed(dsn: PostgresDsn, folder: string, server: number, first: Stores): Promise<void> {
  let seed = BATCHES;
  const commits = async () => {
    for (let at = 0; at < COMMITS; at++) await first.data.write(batch(seed++, 1));
    return COMMITS;
  };
  await row('commits of one feedback, one after another', server, commits);
  await prepareReplica(dsn, join(folder, 'other', 'data'), () => {});
  const other = await open(dsn, join(folder, 'other'));
  await other.data.barrier!.pass();
  await row('the same, with a second node that follows', server, async () => {
    await commits();
    await other.data.barrier!.pass();
    return COMMITS;
  });
  await close(other);
}

async function open(sharedDatabase: PostgresDsn, folder: string): Promise<Stores> {
  return openReadyStore({
    dataPath: join(folder, 'data'),
    cachePath: join(folder, 'cache'),
    sharedDatabase,
    sync: 'disk',
    limits: DEFAULT_LIMITS,
    autoInsertUser: true,
    autoInsertItem: true,
    positiveFeedbackTypes: ['like'],
    readFeedbackTypes: [],
    onTrouble: (message, error) => console.error(message, error),
  });
}

async function close({ data, cache }: Stores): Promise<void> {
  await data.close();
  await cache.close();
}

/** Feedback of few items by many users, and of few users on many items. */
function batch(seed: number, count = BATCH_RECORDS) {
  const random = createRandom(seed);
  const records = Array.from({ length: count }, () => ({
    FeedbackType: 'like',
    UserId: `user-${Math.floor(USERS * random.float() ** 2)}`,
    ItemId: `item-${Math.floor(ITEMS * random.float() ** 2)}`,
    Timestamp: '2024-05-06T07:08:09Z',
  }));
  const json = Uint8Array.from(Buffer.from(JSON.stringify(records)));
  return { kind: 'putFeedback', overwrite: false, batch: { json, single: false } } as const;
}

async function row(name: string, server: number, work: () => Promise<number>): Promise<void> {
  const before = { ms: performance.now(), server: serverCpuMs(server), node: process.cpuUsage() };
  const count = await work();
  const seconds = (performance.now() - before.ms) / 1000;
  const serverSeconds = (serverCpuMs(server) - before.server) / 1000;
  const { user, system } = process.cpuUsage(before.node);
  const rate = (over: number) => (over > 0 ? Math.round(count / over).toLocaleString('en') : '-');
  console.log(
    `${name}: ${count.toLocaleString('en')}; ${rate(seconds)}/s, ${rate(serverSeconds)} a processor second of PostgreSQL, ${rate((user + system) / 1e6)} of furze`,
  );
}
