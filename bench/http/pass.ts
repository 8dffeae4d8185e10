import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../../src/domain/random.ts';
import { getRequest, postRequest } from './connection.ts';
import { measureLoad, RequestRing, sendAll } from './load.ts';
import { POSITIVE_TYPES, processCpuMs, threadCpuMs } from './processes.ts';
import type { Row } from './statistics.ts';
import { feedbackBatches, itemIdOf, userIdOf, type WorldSize } from './world.ts';

const SERVER = fileURLToPath(new URL('./pass-server.ts', import.meta.url));
const BATCH_RECORDS = 10_000;
const PRESSURE = { connections: 64, depth: 1 };
/** Requests are counted in pieces of this length for as long as the pass takes. */
const PIECE_MS = 250;
const MICROSECONDS = 'µs of processor time';

/** Time of the lists, and the number that the fit made. */
interface Made {
  readonly tookMs: number;
  readonly lists: number;
}

/** Processors that were used on average. */
interface Processors {
  readonly client: number;
  /** The thread of the server that answers. */
  readonly main: number;
  /** Its other threads. */
  readonly others: number;
}

/** Requests, a pass, or both at once: what came of it. */
interface Course {
  readonly perSecond: number;
  readonly made: Made;
  readonly processors: Processors;
}

/**
 * A pass over all users while 64 connections ask for lists, every user having new feedback since the fit began; the
 * requests and the pass against each alone.
 */
export async function benchPass(size: WorldSize, aloneMs: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  const server = fork(SERVER, [folder], { execArgv: ['--import', 'tsx'] });
  try {
    const port = Number((await once(server, 'message'))[0]);
    await post(port, [...feedbackBatches(size, BATCH_RECORDS)]);
    await startFit(server).ended;
    const [warm, before, during] = likesOfAll(size);
    await post(port, warm);
    const passAlone = await beside(server, startFit(server), 0);
    const ring = requests(size);
    const ask = (durationMs: number) => measureLoad(port, ring, PRESSURE, durationMs);
    await ask(aloneMs);
    const processors = measureProcessors(server.pid!);
    const alone = { perSecond: await ask(aloneMs), processors: processors() };
    await post(port, before);
    const busy = startFit(server);
    await post(port, during);
    const both = await beside(server, busy, PIECE_MS, ask);
    const after = await ask(aloneMs);
    return rowsOf(size, alone, passAlone, both, after);
  } finally {
    const exited = once(server, 'exit');
    server.send('stop');
    await exited;
    await rm(folder, { recursive: true });
  }
}

/** Asks for as long as a fit makes lists, or only watches it. */
async function beside(
  server: ChildProcess,
  { making, ended }: ReturnType<typeof startFit>,
  pieceMs: number,
  ask?: (durationMs: number) => Promise<number>,
): Promise<Course> {
  await making;
  const processors = measureProcessors(server.pid!);
  let made: Made | undefined;
  const end = ended.then((told) => (made = told));
  let answered = 0;
  let pieces = 0;
  for (; ask !== undefined && made === undefined; pieces++) answered += await ask(pieceMs);
  await end;
  return { perSecond: answered / Math.max(1, pieces), made: made!, processors: processors() };
}

function rowsOf(
  { users }: WorldSize,
  alone: Omit<Course, 'made'>,
  passAlone: Course,
  both: Course,
  after: number,
): Row[] {
  const mainUs = ({ perSecond, processors }: Omit<Course, 'made'>) => (processors.main / perSecond) * 1e6;
  const listMs = ({ made, processors }: Course) => (processors.others * made.tookMs) / made.lists;
  const ask = 'recommend requests/s while lists are made';
  const rows = [
    row(ask, '1/s', both.perSecond, alone.perSecond, '>= 0.5'),
    row('the same right after', '1/s', after, alone.perSecond),
    row('main thread, a request while lists are made', MICROSECONDS, mainUs(both), mainUs(alone), '<= 1.5'),
    row('client, while lists are made', 'processors', both.processors.client, alone.processors.client),
    row('main thread, while lists are made', 'processors', both.processors.main, alone.processors.main),
    row(
      'other threads, while requests come in',
      'processors',
      both.processors.others,
      passAlone.processors.others,
    ),
    row('other threads, a list of the pass', 'ms of processor time', listMs(both), listMs(passAlone)),
    { ...row('lists that the pass made', 'lists', both.made.lists, users), reference: 'users' },
  ];
  const [took, tookAlone] = [both.made.tookMs, passAlone.made.tookMs];
  const making = row('making all lists while requests come in', 'ms', took, tookAlone, '>= 0.5');
  return [...rows, { ...making, ratio: tookAlone / took }];
}

/** Use of the processors from now on, by this process and by a server. */
function measureProcessors(pid: number): () => Processors {
  const used = () => {
    const { user, system } = process.cpuUsage();
    const main = threadCpuMs(pid, pid);
    return { client: (user + system) / 1000, main, others: processCpuMs(pid) - main, now: performance.now() };
  };
  const begun = used();
  return () => {
    const { client, main, others, now } = used();
    const tookMs = now - begun.now;
    return {
      client: (client - begun.client) / tookMs,
      main: (main - begun.main) / tookMs,
      others: (others - begun.others) / tookMs,
    };
  };
}

function row(bench: string, unit: string, furze: number, alone: number, aim = ''): Row {
  return {
    bench,
    unit,
    furze,
    reference: 'the same alone',
    referenceValue: alone,
    ratio: furze / alone,
    aim,
  };
}

/** Starts a fit. */
function startFit(server: ChildProcess): { making: Promise<void>; ended: Promise<Made> } {
  let begun = () => {};
  let done: (made: Made) => void = () => {};
  const making = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const ended = new Promise<Made>((resolve) => {
    done = resolve;
  });
  const listen = (message: unknown) => {
    if (message === 'making') return begun();
    server.off('message', listen);
    done(message as Made);
  };
  server.on('message', listen);
  server.send('fit');
  return { making, ended };
}

function post(port: number, batches: readonly (readonly unknown[])[]): Promise<unknown> {
  const bodies = batches.map((records) => postRequest('/api/feedback', JSON.stringify(records)));
  return sendAll(port, bodies, 1);
}

/** A like of every user, in batches: some and some, so that there is something new to learn twice, and the others. */
function likesOfAll({
  users,
  items,
}: WorldSize): [warm: unknown[][], before: unknown[][], during: unknown[][]] {
  const random = createRandom(9);
  const likes = Array.from({ length: users }, (_, user) => ({
    FeedbackType: POSITIVE_TYPES[0],
    UserId: userIdOf(user),
    ItemId: itemIdOf(random.below(items)),
    Timestamp: '',
    Comment: '',
  }));
  const length = Math.min(BATCH_RECORDS, Math.ceil(users / 4));
  const batches: unknown[][] = [];
  for (let from = 0; from < users; from += length) batches.push(likes.slice(from, from + length));
  return [batches.slice(0, 1), batches.slice(1, 2), batches.slice(2)];
}

function requests({ users }: WorldSize): RequestRing {
  const random = createRandom(5);
  return new RequestRing(
    Array.from({ length: users }, () => getRequest(`/api/recommend/${userIdOf(random.below(users))}?n=10`)),
  );
}
