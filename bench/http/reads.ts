import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import type { EngineName } from '../../src/http/engine/engine.ts';
import { chooseEngine } from '../../src/http/engine/engine-choice.ts';
import { getRequest } from './connection.ts';
import { askAll, measureLoad, type Pressure, RequestRing } from './load.ts';
import { openFolder, type ServerProcess, startBare, startService } from './processes.ts';
import { median, type Row } from './statistics.ts';
import { feedbackBatches, itemIdOf, userIdOf, type WorldSize } from './world.ts';

/** Requests made beforehand; each is for a user or item of its own choice. */
const RING_REQUESTS = 20_000;
const LIST_LENGTH = 100;
const FILL_RECORDS = 10_000;
const LISTS_A_TRANSACTION = 5000;

const PRESSURES: readonly (Pressure & { readonly name: string })[] = [
  { name: '64 connections', connections: 64, depth: 1 },
  { name: 'pipelined by 16', connections: 8, depth: 16 },
];

/** Makes a folder with users, items, feedback and a cached list for every user. */
export async function makeReadFolder(size: WorldSize): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  // The service notes which settings it makes lists with, and serves none that were made before.
  await (await startService(folder)).stop();
  const { data, cache } = openFolder(folder);
  const users = Array.from({ length: size.users }, (_, user) => ({
    UserId: userIdOf(user),
    Labels: ['label-1', 'label-2'],
    Comment: '',
    Subscribe: [],
  }));
  const items = Array.from({ length: size.items }, (_, item) => ({
    ...EMPTY_ITEM,
    ItemId: itemIdOf(item),
    Categories: [`category-${item % 20}`],
    Timestamp: '2024-01-01T00:00:00Z',
    Labels: ['label-1', 'label-2'],
  }));
  await data.write({ kind: 'putUsers', batch: { records: users } });
  await data.write({ kind: 'putItems', batch: { records: items } });
  for (const records of feedbackBatches(size, FILL_RECORDS)) {
    await data.write({ kind: 'putFeedback', overwrite: false, batch: { records } });
  }
  const random = createRandom(3);
  const madeMs = Date.now();
  for (let from = 0; from < size.users; from += LISTS_A_TRANSACTION) {
    const rows = Math.min(LISTS_A_TRANSACTION, size.users - from);
    await cache.putLists(
      Array.from({ length: rows }, (_, at) => ({
        userRow: from + at,
        generation: 1,
        madeMs,
        knowsMs: madeMs,
        itemRows: distinctRows(random, size.items),
        scores: new Float32Array(LIST_LENGTH),
      })),
    );
  }
  await data.close();
  await cache.close();
  return folder;
}

/** The rows of a made-up list, each once. */
function distinctRows(random: Random, items: number): Uint32Array {
  const rows = new Set<number>();
  while (rows.size < LIST_LENGTH) rows.add(random.below(items));
  return Uint32Array.from(rows);
}

interface ReadCase {
  readonly name: string;
  readonly path: (random: number) => string;
}

function readCases({ users, items }: WorldSize): readonly ReadCase[] {
  return [
    { name: 'GET /api/user/{id}', path: (at) => `/api/user/${userIdOf(Math.floor(at * users))}` },
    { name: 'GET /api/item/{id}', path: (at) => `/api/item/${itemIdOf(Math.floor(at * items))}` },
    {
      name: 'GET /api/recommend/{user}?n=10',
      path: (at) => `/api/recommend/${userIdOf(Math.floor(at * users))}?n=10`,
    },
  ];
}

export interface ReadOptions {
  readonly rounds: number;
  /** Length of a round of each server. */
  readonly roundMs: number;
  readonly only: string;
}

/** Name of each engine in the table, and the share of its bare speed that is aimed at. */
const ENGINES = {
  uws: { bare: 'bare uWebSockets.js', aim: '>= 0.7' },
  node: { bare: 'bare node:http', aim: '>= 0.8' },
} as const;

/**
 * Each read over each engine that loads, against a bare handler of the same engine with a body of the same size, in
 * turn; then one engine against the other.
 */
export async function benchReads(
  folder: string,
  size: WorldSize,
  { rounds, roundMs, only }: ReadOptions,
): Promise<Row[]> {
  const rows: Row[] = [];
  const perCpuSecond = new Map<string, number>();
  const engines: readonly EngineName[] = chooseEngine('auto').name === 'uws' ? ['uws', 'node'] : ['node'];
  for (const engine of engines) {
    const service = await startService(folder, [], { engine });
    for (const { name, path } of readCases(size)) {
      if (!name.includes(only)) continue;
      const random = createRandom(4);
      const requests = Array.from({ length: RING_REQUESTS }, () => getRequest(path(random.float())));
      const answer = await fetch(`http://127.0.0.1:${service.port}${path(0.5)}`);
      const bare = await startBare((await answer.arrayBuffer()).byteLength, engine);
      const ring = new RequestRing(requests);
      await askAll(service.port, ring);
      for (const pressure of PRESSURES) {
        const [own, reference] = await alternate(service, bare, ring, pressure, rounds, roundMs);
        const bench = `${name}, ${pressure.name}`;
        rows.push(
          ratioRow(bench, 'requests/s', engine, own.perSecond, reference.perSecond),
          ratioRow(bench, 'requests/CPU second', engine, own.perCpuSecond, reference.perCpuSecond),
        );
        const overUws = perCpuSecond.get(bench);
        if (overUws !== undefined) rows.push(engineRow(bench, own.perCpuSecond, overUws));
        perCpuSecond.set(bench, own.perCpuSecond);
      }
      await bare.stop();
    }
    await service.stop();
  }
  return rows;
}

function ratioRow(
  bench: string,
  unit: string,
  engine: EngineName,
  furze: number,
  referenceValue: number,
): Row {
  const { bare, aim } = ENGINES[engine];
  return { bench, unit, furze, reference: bare, referenceValue, ratio: furze / referenceValue, aim };
}

/** The service over node:http against itself over uWebSockets.js. */
function engineRow(bench: string, furze: number, referenceValue: number): Row {
  const reference = 'the same over uWebSockets.js';
  return {
    bench,
    unit: 'requests/CPU second',
    furze,
    reference,
    referenceValue,
    ratio: furze / referenceValue,
    aim: '',
  };
}

interface Speed {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

async function alternate(
  service: ServerProcess,
  bare: ServerProcess,
  ring: RequestRing,
  pressure: Pressure,
  rounds: number,
  roundMs: number,
): Promise<[Speed, Speed]> {
  const speeds: [Speed[], Speed[]] = [[], []];
  for (const server of [service, bare]) await measureLoad(server.port, ring, pressure, roundMs);
  for (let round = 0; round < rounds; round++) {
    for (const [at, server] of [service, bare].entries()) {
      const cpuBeforeMs = server.cpuMs();
      const perSecond = await measureLoad(server.port, ring, pressure, roundMs);
      const perCpuSecond = (perSecond * roundMs) / (server.cpuMs() - cpuBeforeMs);
      speeds[at]!.push({ perSecond, perCpuSecond });
    }
  }
  return speeds.map((all) => ({
    perSecond: median(all.map(({ perSecond }) => perSecond)),
    perCpuSecond: median(all.map(({ perCpuSecond }) => perCpuSecond)),
  })) as [Speed, Speed];
}

/** Requests of the point read whose latency is watched during the insert. */
export function probeRequests({ users }: WorldSize): Buffer[] {
  const random = createRandom(5);
  return Array.from({ length: RING_REQUESTS }, () =>
    getRequest(`/api/user/${userIdOf(Math.floor(random.float() * users))}`),
  );
}
