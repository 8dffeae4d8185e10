import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { defaultConfig } from '../../src/config/config.ts';
import { createRandom } from '../../src/domain/random.ts';
import { createLogger } from '../../src/platform/log/log.ts';
import { startService as startHere } from '../../src/service/service.ts';
import { Asker } from './asker.ts';
import { getRequest, postRequest } from './connection.ts';
import { cachePathOf, dataPathOf, POSITIVE_TYPES, READ_TYPES, startService } from './processes.ts';
import { quantile, type Row } from './statistics.ts';
import { feedbackBatches, itemIdOf, userIdOf, type WorldSize } from './world.ts';

const FLOOD = fileURLToPath(new URL('./flood-client.ts', import.meta.url));
const LOAD_RECORDS = 10_000;
/** Long enough that another order of its entries cannot stay unseen. */
const LIST_LENGTH = 100;
/** A list that has not changed after so many questions never will. */
const QUESTIONS_MAX = 1000;
const FLOOD_RECORDS_PER_SECOND = 10_000;

/**
 * Time from the answer to a POST of feedback to another list of the user: idle, and while feedback floods in. The
 * list is asked for until its entries, but for the item just liked, stand in another order.
 */
export async function benchFreshness(size: WorldSize, probes: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  try {
    await makeModel(folder, size);
    const service = await startService(folder);
    const idle = await probe(service.port, size, probes, 1);
    const flood = await startFlood(service.port, size);
    const busy = await probe(service.port, size, probes, 2);
    const floodRate = await stopFlood(flood);
    await service.stop();
    return [
      row('p50 of a click to another list, idle', idle, 0.5, undefined),
      row('p99 of a click to another list, idle', idle, 0.99, 10),
      row(`p50 while ${Math.round(floodRate)} feedback/s arrive`, busy, 0.5, undefined),
      row(`p99 while ${Math.round(floodRate)} feedback/s arrive`, busy, 0.99, 100),
    ];
  } finally {
    await rm(folder, { recursive: true });
  }
}

function row(bench: string, latenciesMs: readonly number[], share: number, aimMs: number | undefined): Row {
  const furze = quantile(latenciesMs, share);
  return {
    bench,
    unit: 'ms',
    furze,
    reference: aimMs === undefined ? 'none' : 'the aim, ms',
    referenceValue: aimMs ?? Number.NaN,
    ratio: aimMs === undefined ? Number.NaN : furze / aimMs,
    aim: aimMs === undefined ? '' : '<= 1',
  };
}

/** Stores made-up feedback and fits the models on it, in this process. */
async function makeModel(folder: string, size: WorldSize): Promise<void> {
  const config = defaultConfig({
    database: {
      data_store: `lmdb://${dataPathOf(folder)}`,
      cache_store: `lmdb://${cachePathOf(folder)}`,
      sync: 'commit',
    },
    server: { port: 0 },
    recommend: { data_source: { positive_feedback_types: POSITIVE_TYPES, read_feedback_types: READ_TYPES } },
  });
  const service = await startHere({ config, log: createLogger('warn') });
  for (const records of feedbackBatches(size, LOAD_RECORDS))
    await service.data.write({ kind: 'putFeedback', overwrite: true, batch: { records } });
  await service.fit();
  await service.stop();
}

/** @returns milliseconds from the answer to a POST to the answer that shows it, one a probe */
async function probe(port: number, size: WorldSize, probes: number, seed: number): Promise<number[]> {
  const random = createRandom(seed);
  const asker = await Asker.open(port);
  const latenciesMs: number[] = [];
  while (latenciesMs.length < probes) {
    const UserId = userIdOf(Math.floor(size.users * random.float() ** 2));
    const list = getRequest(`/api/recommend/${UserId}?n=${LIST_LENGTH}`);
    const before = JSON.parse(await asker.ask(list)) as string[];
    const ItemId = itemIdOf(random.below(size.items));
    const record = { FeedbackType: POSITIVE_TYPES[0], UserId, ItemId, Timestamp: '', Comment: '' };
    const kept = before.filter((id) => id !== ItemId);
    await asker.ask(postRequest('/api/feedback', JSON.stringify([record])));
    const start = performance.now();
    for (let asked = 0; asked < QUESTIONS_MAX; asked++) {
      const now = JSON.parse(await asker.ask(list)) as string[];
      if (kept.every((id, at) => id === now[at])) continue;
      latenciesMs.push(performance.now() - start);
      break;
    }
  }
  asker.close();
  return latenciesMs;
}

/** Has another process post feedback to a server at a steady pace. */
export async function startFlood(port: number, size: WorldSize): Promise<ChildProcess> {
  const numbers = [port, FLOOD_RECORDS_PER_SECOND, size.users, size.items].map(String);
  const client = fork(FLOOD, numbers, { execArgv: ['--import', 'tsx'] });
  await once(client, 'message');
  return client;
}

/** @returns the records a second that were answered */
export async function stopFlood(client: ChildProcess): Promise<number> {
  const rate = once(client, 'message');
  client.send('stop');
  return Number((await rate)[0]);
}
