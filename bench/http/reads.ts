import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { getRequest } from './connection.ts';
import { alternate, type Pressure, RequestRing, sendAll } from './load.ts';
import { engines, openFolder, startBare, startService } from './processes.ts';
import { type Row, ratioRow } from './statistics.ts';
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
  await (await startService(folder, [], { learns: false })).stop();
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
  const overUws = new Map<string, number>();
  for (const engine of engines()) {
    const { bare: reference, aim } = ENGINES[engine];
    const service = await startService(folder, [], { engine, learns: false });
    for (const { name, path } of readCases(size)) {
      if (!name.includes(only)) continue;
      const random = createRandom(4);
      const requests = Array.from({ length: RING_REQUESTS }, () => getRequest(path(random.float())));
      const answer = await fetch(`http://127.0.0.1:${service.port}${path(0.5)}`);
      const bare = await startBare((await answer.arrayBuffer()).byteLength, engine);
      const ring = new RequestRing(requests);
      // So that what is kept of an answer is there.
      await sendAll(service.port, requests, 64);
      const sides = [service, bare].map((server) => ({ server, ring }));
      for (const pressure of PRESSURES) {
        const [own, its] = await alternate(sides, pressure, rounds, roundMs);
        const bench = `${name}, ${pressure.name}`;
        const perCpuSecond = own!.perCpuSecond;
        const row = (unit: string, furze: number, of: string, its: number, aimed = '') =>
          rows.push(ratioRow(bench, unit, furze, of, its, aimed));
        row('requests/s', own!.perSecond, reference, its!.perSecond, aim);
        row('requests/CPU second', perCpuSecond, reference, its!.perCpuSecond, aim);
        const before = overUws.get(bench);
        if (before !== undefined)
          row('requests/CPU second', perCpuSecond, 'the same over uWebSockets.js', before);
        overUws.set(bench, perCpuSecond);
      }
      await bare.stop();
    }
    await service.stop();
  }
  return rows;
}
