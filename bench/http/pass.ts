import { performance } from 'node:perf_hooks';
import { createRandom } from '../../src/domain/random.ts';
import { ChildService, type Made } from './child-service.ts';
import { postRequest } from './connection.ts';
import { measureLoad, RequestRing, sendAll } from './load.ts';
import { processCpuMs, threadCpuMs, withFolder } from './processes.ts';
import { ownCpuMs, type Row, ratioRow } from './statistics.ts';
import { feedbackBatches, itemIdOf, likeOf, listRequests, userIdOf, type WorldSize } from './world.ts';

const BATCH_RECORDS = 10_000;
const PRESSURE = { connections: 64, depth: 1 };
/** Requests are counted in pieces of this length for as long as the pass takes. */
const PIECE_MS = 250;

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
export function benchPass(size: WorldSize, aloneMs: number): Promise<Row[]> {
  return withFolder(async (folder) => {
    const service = await ChildService.start(folder);
    try {
      await post(service, [...feedbackBatches(size, BATCH_RECORDS)]);
      await service.fit().ended;
      const [warm, before, during] = likesOfAll(size);
      await post(service, warm);
      const passAlone = await beside(service, service.fit(), 0);
      const ring = new RequestRing(listRequests(size, size.users, 5));
      const ask = (durationMs: number) => measureLoad(service.port, ring, PRESSURE, durationMs);
      await ask(aloneMs);
      const processors = measureProcessors(service.pid);
      const alone = { perSecond: await ask(aloneMs), processors: processors() };
      await post(service, before);
      const busy = service.fit();
      await post(service, during);
      const both = await beside(service, busy, PIECE_MS, ask);
      const after = await ask(aloneMs);
      return rowsOf(size, alone, passAlone, both, after);
    } finally {
      await service.stop();
    }
  });
}

/** Asks for as long as a fit makes lists, or only watches it. */
async function beside(
  { pid }: ChildService,
  { making, ended }: ReturnType<ChildService['fit']>,
  pieceMs: number,
  ask?: (durationMs: number) => Promise<number>,
): Promise<Course> {
  await making;
  const processors = measureProcessors(pid);
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
  const row = (bench: string, unit: string, furze: number, of: number, aim = '') =>
    ratioRow(bench, unit, furze, 'the same alone', of, aim);
  const mainUs = ({ perSecond, processors }: Omit<Course, 'made'>) => (processors.main / perSecond) * 1e6;
  const listMs = ({ made, processors }: Course) => (processors.others * made.tookMs) / made.lists;
  const [took, tookAlone] = [both.made.tookMs, passAlone.made.tookMs];
  const [busy, idle, pass] = [both.processors, alone.processors, passAlone.processors];
  const ask = 'recommend requests/s while lists are made';
  const mainUnit = 'µs of processor time';
  return [
    row(ask, '1/s', both.perSecond, alone.perSecond, '>= 0.6'),
    row('the same right after', '1/s', after, alone.perSecond),
    row('main thread, a request while lists are made', mainUnit, mainUs(both), mainUs(alone), '<= 1.5'),
    row('client, while lists are made', 'processors', busy.client, idle.client),
    row('main thread, while lists are made', 'processors', busy.main, idle.main),
    row('other threads, while requests come in', 'processors', busy.others, pass.others),
    row('other threads, a list of the pass', 'ms of processor time', listMs(both), listMs(passAlone)),
    ratioRow('lists that the pass made', 'lists', both.made.lists, 'users', users),
    {
      ...row('making all lists while requests come in', 'ms', took, tookAlone),
      ratio: tookAlone / took,
    },
  ];
}

/** Use of the processors from now on, by this process and by a server. */
function measureProcessors(pid: number): () => Processors {
  const used = () => {
    const main = threadCpuMs(pid, pid);
    return { client: ownCpuMs(), main, others: processCpuMs(pid) - main, now: performance.now() };
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

function post({ port }: ChildService, batches: readonly (readonly unknown[])[]): Promise<unknown> {
  return sendAll(
    port,
    batches.map((records) => postRequest('/api/feedback', records)),
    1,
  );
}

/** A like of every user, in batches: some and some, so that there is something new to learn twice, and the others. */
function likesOfAll({ users, items }: WorldSize) {
  const random = createRandom(9);
  const likes = Array.from({ length: users }, (_, user) =>
    likeOf(userIdOf(user), itemIdOf(random.below(items))),
  );
  const length = Math.min(BATCH_RECORDS, Math.ceil(users / 4));
  const batches: (typeof likes)[] = [];
  for (let from = 0; from < users; from += length) batches.push(likes.slice(from, from + length));
  return [batches.slice(0, 1), batches.slice(1, 2), batches.slice(2)] as const;
}
