import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import { getRequest, postRequest } from './connection.ts';
import { measureLoad, RequestRing, sendAll } from './load.ts';
import { type ServerProcess, startService } from './processes.ts';
import { median, type Row } from './statistics.ts';
import { feedbackBatches, itemIdOf, userIdOf, type WorldSize } from './world.ts';

const BATCH_RECORDS = 10_000;
const PRESSURE = { connections: 64, depth: 1 };
/** Requests made beforehand. */
const RING_REQUESTS = 2000;
/** Items of a list that is shown. */
const SHOWN = 10;
const MORE = `
[placement.home]
exclude = ["${itemIdOf(0)}"]
[experiment.sizes]
placement = "home"
variants = [{ name = "now", share = 0.5 }, { name = "short", share = 0.5, override = { length = 8 } }]
`;

/** Lists of a placement against lists of a question with the same wish, and impressions against feedback. */
export async function benchPlacements(size: WorldSize, rounds: number, roundMs: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  const service = await startService(folder, [], { more: MORE });
  const items = Array.from({ length: size.items }, (_, at) => ({
    ...EMPTY_ITEM,
    ItemId: itemIdOf(at),
    Timestamp: '2024-01-01T00:00:00Z',
  }));
  await sendAll(service.port, [postRequest('/api/items', JSON.stringify(items))], 1);
  for (const records of feedbackBatches(size, BATCH_RECORDS))
    await sendAll(service.port, [postRequest('/api/feedback', JSON.stringify(records))], 1);
  const userOf = (at: number) => userIdOf((at * 7919) % size.users);
  const reads = (query: string) => ringOf((at) => getRequest(`/api/recommend/${userOf(at)}?n=10&${query}`));
  const records = await shownLists(service, userOf);
  const read = await alternate(
    service,
    [reads('placement=home'), reads(`exclude=${itemIdOf(0)}`)],
    rounds,
    roundMs,
  );
  const write = await alternate(
    service,
    [
      ringOf((at) =>
        postRequest('/api/impressions', JSON.stringify([records[at % records.length]!.impression])),
      ),
      ringOf((at) => postRequest('/api/feedback', JSON.stringify([records[at % records.length]!.feedback]))),
    ],
    rounds,
    roundMs,
  );
  await service.stop();
  await rm(folder, { recursive: true });
  return [
    rowOf(
      'a list of a placement under an experiment, with its token',
      read,
      'the same wish without one',
      '>= 0.9',
    ),
    rowOf(`POST /api/impressions, ${SHOWN} items each`, write, 'POST /api/feedback, one each', ''),
  ];
}

function ringOf(request: (at: number) => Buffer): RequestRing {
  return new RequestRing(Array.from({ length: RING_REQUESTS }, (_, at) => request(at)));
}

/** What users are shown, with the tokens of their lists. */
async function shownLists(service: ServerProcess, userOf: (at: number) => string) {
  const records = [];
  for (let at = 0; at < Math.min(RING_REQUESTS, 500); at++) {
    const UserId = userOf(at);
    const answer = await fetch(
      `http://127.0.0.1:${service.port}/api/recommend/${UserId}?placement=home&n=${SHOWN}`,
    );
    const Items = (await answer.json()) as string[];
    const Recommendation = answer.headers.get('X-Furze-Recommendation');
    const feedback = { FeedbackType: 'seen', UserId, ItemId: Items[0], Timestamp: '2025-01-01' };
    records.push({ impression: { UserId, Recommendation, Items }, feedback });
  }
  return records;
}

/** Requests a second of processor time of the main thread of two kinds, in turn. */
async function alternate(
  service: ServerProcess,
  rings: readonly [RequestRing, RequestRing],
  rounds: number,
  roundMs: number,
): Promise<[number, number]> {
  const speeds: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round++)
    for (const [at, ring] of rings.entries()) {
      const beforeMs = service.cpuMs();
      const perSecond = await measureLoad(service.port, ring, PRESSURE, roundMs);
      // The first round warms up.
      if (round > 0) speeds[at]!.push((perSecond * roundMs) / (service.cpuMs() - beforeMs));
    }
  return [median(speeds[0]), median(speeds[1])];
}

function rowOf(
  bench: string,
  [furze, referenceValue]: [number, number],
  reference: string,
  aim: string,
): Row {
  return {
    bench,
    unit: 'requests/CPU second of the main thread',
    furze,
    reference,
    referenceValue,
    ratio: furze / referenceValue,
    aim,
  };
}
