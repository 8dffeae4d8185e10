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

/**
 * A pass over all users while 64 connections ask for lists, every user having new feedback since the fit began; the
 * requests and the pass against each alone.
 */
export async function benchPass(size: WorldSize, aloneMs: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  const server = fork(SERVER, [folder], { execArgv: ['--import', 'tsx'] });
  try {
    const port = Number((await once(server, 'message'))[0]);
    const posts = [...feedbackBatches(size, BATCH_RECORDS)];
    await post(port, posts);
    await startFit(server).ended;
    const [warm, before, during] = likesOfAll(size);
    await post(port, warm);
    const passAloneMs = await startFit(server).ended;
    const ring = requests(size);
    await measureLoad(port, ring, PRESSURE, aloneMs);
    const alone = processorTime(server.pid!);
    const perSecondAlone = await measureLoad(port, ring, PRESSURE, aloneMs);
    const spentAlone = alone((perSecondAlone * aloneMs) / 1000);
    await post(port, before);
    const busy = startFit(server);
    await post(port, during);
    await busy.making;
    const beside = processorTime(server.pid!);
    let passMs: number | undefined;
    const ended = busy.ended.then((tookMs) => (passMs = tookMs));
    let answered = 0;
    let pieces = 0;
    for (; passMs === undefined; pieces++) answered += await measureLoad(port, ring, PRESSURE, PIECE_MS);
    await ended;
    const perSecond = answered / pieces;
    const spent = beside((perSecond * passMs!) / 1000);
    const after = await measureLoad(port, ring, PRESSURE, aloneMs);
    return [
      row(
        'recommend requests/s while lists are made',
        '1/s',
        perSecond,
        perSecondAlone,
        perSecond / perSecondAlone,
      ),
      row('the same right after', '1/s', after, perSecondAlone, after / perSecondAlone),
      {
        ...row(
          'main thread, a request while lists are made',
          'µs of processor time',
          spent.mainUs,
          spentAlone.mainUs,
          spent.mainUs / spentAlone.mainUs,
        ),
        aim: '<= 1.5',
      },
      {
        bench: 'threads while lists are made and requests come in',
        unit: 'processors, main',
        furze: spent.main,
        reference: 'all others',
        referenceValue: spent.others,
        ratio: spent.main / spent.others,
        aim: '',
      },
      row('making all lists while requests come in', 'ms', passMs, passAloneMs, passAloneMs / passMs),
    ];
  } finally {
    const exited = once(server, 'exit');
    server.send('stop');
    await exited;
    await rm(folder, { recursive: true });
  }
}

/** What the main thread and the others of a process take from now on. */
function processorTime(pid: number) {
  const mainMs = threadCpuMs(pid, pid);
  const allMs = processCpuMs(pid);
  const beganMs = performance.now();
  return (requests: number) => {
    const tookMs = performance.now() - beganMs;
    const ownMs = threadCpuMs(pid, pid) - mainMs;
    const othersMs = processCpuMs(pid) - allMs - ownMs;
    return { mainUs: (ownMs / requests) * 1000, main: ownMs / tookMs, others: othersMs / tookMs };
  };
}

function row(bench: string, unit: string, furze: number, alone: number, ratio: number): Row {
  const aim = bench.includes('after') ? '' : '>= 0.5';
  return { bench, unit, furze, reference: 'the same alone', referenceValue: alone, ratio, aim };
}

/** Starts a fit. `ended` tells how long its lists took. */
function startFit(server: ChildProcess): { making: Promise<void>; ended: Promise<number> } {
  let begun = () => {};
  let done: (tookMs: number) => void = () => {};
  const making = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const ended = new Promise<number>((resolve) => {
    done = resolve;
  });
  const listen = (message: unknown) => {
    if (message === 'making') return begun();
    server.off('message', listen);
    done(Number(message));
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
