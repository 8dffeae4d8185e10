// npm run faults:cluster -- --rounds N: two servers and two workers over one PostgreSQL and one Redis. POST on one server, GET on the other N
// times, then every process is killed in turn, the database restarts, Redis is flushed, killed and paused, a leader is paused in
// a fit, a server is stopped in its writes, has its way to PostgreSQL slow, silent and closed by half, clocks are apart, a worker was away, commits are removed while one lags or copies, a disk is full, all under a flood of writes and reads; at the end moves to PostgreSQL and back are killed. Below 1,000 rounds no leader is paused, and one of a kind is killed.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom, type Random } from '../src/domain/random.ts';
import { startPostgres, type TestPostgres } from '../test/servers/postgres.ts';
import { startRedis } from '../test/servers/redis.ts';
import { Checks } from './checks.ts';
import { ask } from './cluster/ask.ts';
import { Flood } from './cluster/flood.ts';
import { breakLinks, moveClocks } from './cluster/link-faults.ts';
import { killMigrations } from './cluster/migrate-kills.ts';
import { Node, waitFor } from './cluster/node.ts';
import { prune, pruneUnderLag } from './cluster/prune-faults.ts';
import { breakRedis } from './cluster/redis-faults.ts';
import { GROUPS, ITEMS } from './cluster/tastes.ts';
import { Way } from './cluster/way.ts';
import { runProof } from './run-proof.ts';

/** From so many rounds on, what takes long is tried, too. */
const LONG_ROUNDS = 1000;
const USERS = 200;

const checks = new Checks();

interface Cluster {
  readonly postgres: TestPostgres;
  readonly dataStore: string;
  readonly servers: readonly [Node, Node];
  readonly workers: readonly [Node, Node];
  readonly flood: Flood;
}

await runProof('rounds', 10_000, async ({ amount: rounds, seed, folder }) => {
  const postgres = await startPostgres();
  if (postgres === undefined)
    return { line: 'cluster: SKIPPED, there is no PostgreSQL on this machine', holds: true };
  const redis = await startRedis();
  const dataStore = `${postgres.url}?schema=proof`;
  const stores = { data: dataStore, cache: redis?.url };
  const disk = join(folder, 'disk');
  const hasDisk = mountDisk(disk);
  const isLong = rounds >= LONG_ROUNDS;
  const create = (name: string, role: 'server' | 'worker', replica = '') =>
    Node.create(name, role, stores, folder, replica);
  const way = await Way.open(dataStore);
  const first = await Node.create('s1', 'server', { ...stores, data: way.url }, folder);
  const servers = [first, await create('s2', 'server', hasDisk ? disk : '')] as const;
  const workers = [await create('w1', 'worker'), await create('w2', 'worker')] as const;
  const nodes = [...servers, ...workers];
  try {
    await servers[0].start();
    await Promise.all(nodes.slice(1).map((node) => node.start()));
    const random = createRandom(seed);
    const flood = new Flood(servers, createRandom(seed));
    const cluster = { postgres, dataStore, servers, workers, flood };
    await learnFirst(cluster, seed);
    const staleBefore = await freshness(cluster, rounds);
    flood.start();
    await killEach(cluster, isLong);
    await restartDatabase(cluster);
    if (redis === undefined)
      checks.skip('Redis that is away', 'there is no redis-server and no valkey-server');
    else await breakRedis({ redis, servers, flood, checks, tell, faultMs: isLong ? 20_000 : 3000 });
    const links = { node: servers[0], other: servers[1], way, flood, random, checks, tell };
    await breakLinks({ ...links, times: isLong ? 10 : 2 });
    await moveClocks({ ...links, times: 1 }, isLong ? 20_000 : 2000);
    await workerAway(cluster, random, isLong);
    await pruneUnderFlood(cluster, random, isLong ? 12 : 2);
    if (isLong) await pauseLeader(cluster);
    else checks.skip('a leader that is paused', `only from ${LONG_ROUNDS} rounds on`);
    if (hasDisk) await fullDisk(cluster, disk);
    else checks.skip('a full disk of a copy', 'mounting is not permitted here');
    await flood.stop();
    await compareAll(cluster);
    const database = `${postgres.url}?schema=moved`;
    await killMigrations({ folder, database, random: createRandom(seed), checks, times: isLong ? 10 : 2 });
    const wrong = checks.found.filter(({ isRight }) => !isRight);
    for (const line of flood.wrong.slice(0, 20)) console.log(line);
    return {
      line:
        `cluster: ${rounds} rounds of POST on one server and GET on the other, ${staleBefore} stale; in all ${flood.acknowledged} acknowledged writes and ` +
        `${flood.reads} reads, ${flood.tasteChanges} changes of taste and twice as many lists, ${flood.shelves.changes} changes of a placement and ${flood.shelves.impressions} lists seen, ${flood.wrong.length} wrong answers; ${flood.refused} writes refused and ${flood.stale.all} answers marked stale meanwhile; ` +
        `${checks.found.length} checks, ${wrong.length} wrong${checks.skipped.length === 0 ? '' : `; SKIPPED ${checks.skipped.join(', ')}`}`,
      holds: wrong.length === 0 && flood.wrong.length === 0 && staleBefore === 0,
    };
  } catch (error) {
    for (const { name, output } of nodes) console.log(`${name}: ${output.slice(-1500)}`);
    throw error;
  } finally {
    for (const node of nodes) {
      node.signal('SIGCONT');
      await node.end();
    }
    await redis?.stop();
    way.close();
    await postgres.stop();
    if (hasDisk) execFileSync('umount', ['-l', disk]);
  }
});

function tell(what: string, seconds: number): void {
  console.log(`recovery: ${what} after ${seconds.toFixed(1)} s`);
}

/** Stores likes of users with a taste, and waits until all serve what is learned from them. */
async function learnFirst({ servers, workers }: Cluster, seed: number): Promise<void> {
  const random = createRandom(seed);
  const likes = Array.from({ length: USERS * 8 }, (_, at) => ({
    FeedbackType: 'like',
    UserId: `u${at % USERS}`,
    ItemId: `i${random.below(ITEMS / GROUPS) * GROUPS + (at % GROUPS)}`,
    Timestamp: new Date(Date.UTC(2024, 0, 1) + at * 60_000).toISOString(),
  }));
  const items = Array.from({ length: ITEMS }, (_, at) => ({
    ItemId: `i${at}`,
    Labels: [`group ${at % GROUPS}`],
    Timestamp: '2024-01-01',
  }));
  await post(servers[0], '/api/items', items);
  await post(servers[0], '/api/feedback', likes);
  const all = [...servers, ...workers];
  const seconds = await waitFor('a first generation on all nodes', async () =>
    (await Promise.all(all.map((node) => node.generation()))).every((number) => number >= 1),
  );
  tell('the first generation is learned by one and served by all four nodes', seconds);
}

/** @returns answers that did not show what the other server had acknowledged */
async function freshness({ servers, flood }: Cluster, rounds: number): Promise<number> {
  const began = performance.now();
  for (let round = 0; round < rounds; ) {
    const [to, from] = round % 2 === 0 ? servers : [servers[1], servers[0]];
    const marked = flood.stale.all;
    const isAnswered = await flood.round(to, from);
    // A node that has waited for PostgreSQL in vain says so, and is asked once more.
    if (flood.stale.all === marked && !isAnswered) throw new Error(`round ${round} was not answered`);
    if (flood.stale.all > rounds) throw new Error('most answers are marked stale');
    if (flood.stale.all === marked) round++;
  }
  const ms = (performance.now() - began) / rounds;
  const stale = flood.wrong.length + flood.stale.unexcused;
  checks.check(`${rounds} rounds of POST on one, GET on the other`, stale === 0);
  console.log(`a round of one write and two reads took ${ms.toFixed(1)} ms`);
  return stale;
}

async function killEach({ servers, workers }: Cluster, isLong: boolean): Promise<void> {
  for (const [at, server] of servers.entries()) {
    if (at > 0 && !isLong) break;
    const other = servers[1 - at]!;
    await server.end('SIGKILL');
    const seconds = await waitFor('a write by the other server', () => canWrite(other));
    tell(`${server.name} killed: the other server took a write`, seconds);
    const began = performance.now();
    await server.start();
    tell(`${server.name} started again: ready`, (performance.now() - began) / 1000);
  }
  for (let kill = 0; kill < (isLong ? workers.length : 1); kill++) {
    const name = await agreedLeader([...servers, ...workers]);
    const leader = workers.find((worker) => worker.name === name);
    checks.check('a worker leads', leader !== undefined, name ?? 'nobody');
    if (leader === undefined) return;
    await leader.end('SIGKILL');
    const other = workers.find((worker) => worker !== leader)!;
    const seconds = await waitFor('another leader', async () => (await other.leader()) === other.name);
    tell(`the leader ${leader.name} killed: ${other.name} leads`, seconds);
    await leader.start();
  }
}

/** Who leads, once all say the same: each looks once in a while, so after a change some still name the one before. */
async function agreedLeader(nodes: readonly Node[]): Promise<string | undefined> {
  let leaders: (string | undefined)[] = [];
  await waitFor('one leader that all name', async () => {
    leaders = await Promise.all(nodes.map((node) => node.leader()));
    return leaders[0] !== undefined && leaders.every((name) => name === leaders[0]);
  });
  return leaders[0];
}

async function restartDatabase({ postgres, servers, workers }: Cluster): Promise<void> {
  const before = await agreedLeader([...servers, ...workers]);
  const read = async (path: string) => (await fetch(`${servers[1].url}/api/${path}`)).status;
  // A server has of users those who were asked for.
  await read('user/u1');
  await postgres.pause();
  await waitFor('a refused write', async () => !(await canWrite(servers[0])));
  const statuses = await Promise.all(['user/u1', 'recommend/u1', 'recommend/nobody', 'latest'].map(read));
  checks.check(
    'PostgreSQL away: reads are answered',
    statuses.every((status) => status === 200),
    statuses.join(' '),
  );
  await postgres.resume();
  const ready = async (node: Node) => (await fetch(`${node.url}/api/health/ready`)).status === 200;
  for (const server of servers)
    tell(
      `PostgreSQL restarted: ${server.name} takes writes`,
      await waitFor('writes', () => canWrite(server)),
    );
  for (const node of [...servers, ...workers]) await waitFor(`${node.name} ready`, () => ready(node));
  const isFresh = async (node: Node) => (await ask(node, '/api/user/u1'))?.isStale === false;
  for (const server of servers)
    tell(
      `PostgreSQL restarted: what ${server.name} answers is not marked stale any more`,
      await waitFor('a fresh answer', () => isFresh(server)),
    );
  const seconds = await waitFor('a leader', async () => (await servers[0].leader()) !== undefined);
  tell('PostgreSQL restarted: a node leads', seconds);
  const after = await agreedLeader([...servers, ...workers]);
  checks.check('PostgreSQL restarted: the same node leads as before', after === before, `${before} ${after}`);
}

/** One that was away for a while, and one so long that what it missed is no longer kept. */
async function workerAway(
  { dataStore, servers, workers }: Cluster,
  random: Random,
  isLong: boolean,
): Promise<void> {
  const name = await servers[0].leader();
  const away = workers.find((worker) => worker.name !== name)!;
  for (const isTooLong of isLong ? [false, true] : [true]) {
    await away.end('SIGTERM');
    for (let batch = 0; batch < 5; batch++)
      await post(
        servers[batch % 2]!,
        '/api/users',
        Array.from({ length: 100 }, (_, at) => ({ UserId: `away${isTooLong}${batch}-${at}` })),
      );
    if (isTooLong) await prune(dataStore, random);
    const began = performance.now();
    await away.start();
    const users = (node: Node) => node.summary().then(({ Users }) => Users);
    await waitFor('the same users', async () => (await users(away)) === (await users(servers[0])));
    tell(
      `a worker that was away ${isTooLong ? 'for longer than changes are kept' : 'for a while'}: up to date`,
      (performance.now() - began) / 1000,
    );
  }
}

async function pruneUnderFlood(
  { dataStore, servers, workers, flood }: Cluster,
  random: Random,
  times: number,
): Promise<void> {
  const name = await agreedLeader([...servers, ...workers]);
  const node = workers.find((worker) => worker.name !== name)!;
  await pruneUnderLag({ dataStore, node, other: servers[0], flood, random, checks, tell, times });
}

/** A leader that stands still in the middle of a fit must do no harm when it wakes. */
async function pauseLeader({ servers, workers }: Cluster): Promise<void> {
  const leader = workers.find(({ name }) => name === 'w1')!;
  const other = workers.find((worker) => worker !== leader)!;
  await other.end('SIGTERM');
  await leader.end('SIGTERM');
  // A fit of minutes.
  await leader.start({ RECOMMEND_COLLABORATIVE_EPOCHS: 1000, RECOMMEND_COLLABORATIVE_FACTORS: 256 });
  await other.start();
  await waitFor('the leader', async () => (await servers[0].leader()) === leader.name);
  const before = await servers[0].generation();
  await post(servers[0], '/api/feedback', [{ FeedbackType: 'like', UserId: 'u1', ItemId: 'i-new' }]);
  await post(leader, '/api/admin/fit', undefined);
  await waitFor('a fit', async () => (await leader.summary()).Task?.Stage?.startsWith('Training') === true);
  leader.signal('SIGSTOP');
  const seconds = await waitFor('another leader', async () => (await servers[0].leader()) === other.name);
  tell('the leader paused in a fit: the other worker leads', seconds);
  await post(servers[0], '/api/admin/fit', undefined);
  const learned = await waitFor('a new generation', async () => (await servers[1].generation()) > before);
  tell('the other worker asked for a fit: both servers serve its generation', learned);
  leader.signal('SIGCONT');
  const woken = await waitFor('the woken node', async () => (await leader.generation()) === before + 1);
  tell('the paused leader woken: it has dropped its fit and serves what the other has published', woken);
  const told = /leads no more|another node leads by now/.test(leader.output);
  const numbers = await Promise.all([...servers, ...workers].map((node) => node.generation()));
  checks.check(
    'a leader paused in a fit publishes nothing',
    told && numbers.every((number) => number === before + 1),
    numbers.join(),
  );
}

async function fullDisk({ servers }: Cluster, disk: string): Promise<void> {
  const [first, second] = servers;
  const filler = join(disk, 'filler');
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k'], { stdio: 'ignore' });
  const ready = async () => (await fetch(`${second.url}/api/health/ready`)).status;
  let at = 0;
  await waitFor('a copy that is behind', async () => {
    await post(
      first,
      '/api/users',
      Array.from({ length: 50 }, () => ({ UserId: `full${at++}`, Comment: 'x'.repeat(2000) })),
    );
    return (await ready()) === 503;
  });
  checks.check('a full disk of a copy: the other server takes writes', await canWrite(first));
  rmSync(filler);
  tell(
    'room again on the disk of a copy: ready',
    await waitFor('ready', async () => (await ready()) === 200),
  );
}

/** Everything that was acknowledged, on every node; and all serve the same lists. */
async function compareAll({ servers, workers, flood }: Cluster): Promise<void> {
  for (const node of [...servers, ...workers]) {
    const missing = await flood.missingFrom(node);
    checks.check(
      `${node.name} shows all ${flood.acknowledged} acknowledged writes`,
      missing.length === 0,
      missing.slice(0, 3).join(),
    );
  }
  const different: string[] = [];
  for (let at = 0; at < 50; at++) {
    const lists = await Promise.all(servers.map((node) => node.json<string[]>(`/api/recommend/u${at}?n=10`)));
    if (JSON.stringify(lists[0]) !== JSON.stringify(lists[1])) different.push(`u${at}`);
  }
  checks.check('both servers recommend the same', different.length === 0, different.slice(0, 5).join());
}

async function canWrite(node: Node): Promise<boolean> {
  const body = JSON.stringify({ UserId: 'probe' });
  const answer = await fetch(`${node.url}/api/user`, { method: 'POST', body });
  await answer.arrayBuffer();
  return answer.status === 200;
}

async function post(node: Node, path: string, body: unknown): Promise<void> {
  const answer = await fetch(node.url + path, {
    method: 'POST',
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!answer.ok)
    throw new Error(`${node.name} answered ${answer.status} to ${path}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** A small file system, where this process may make one. */
function mountDisk(folder: string): boolean {
  mkdirSync(folder, { recursive: true });
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', folder]).status === 0;
}
