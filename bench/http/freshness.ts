import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../../src/domain/random.ts';
import { ChildService } from './child-service.ts';
import { Asker, getRequest, postRequest } from './connection.ts';
import { sendAll } from './load.ts';
import { startService, withFolder } from './processes.ts';
import { quantile, type Row, ratioRow } from './statistics.ts';
import { feedbackBatches, itemIdOf, likeOf, userIdOf, type WorldSize } from './world.ts';

const CLIENT = fileURLToPath(new URL('./posting-client.ts', import.meta.url));
const LOAD_RECORDS = 10_000;
/** Long enough that another order of its entries cannot stay unseen. */
const LIST_LENGTH = 100;
/** A list that has not changed after so many questions never will. */
const QUESTIONS_MAX = 1000;
/** A flood is 10,000 records a second. */
const FLOOD = { batchRecords: 200, paceMs: 20 };

/**
 * Time from the answer to a POST of feedback to another list of the user: idle, and while feedback floods in. The
 * list is asked for until its entries, but for the item just liked, stand in another order.
 */
export function benchFreshness(size: WorldSize, probes: number): Promise<Row[]> {
  return withFolder(async (folder) => {
    const child = await ChildService.start(folder);
    const requests = Array.from(feedbackBatches(size, LOAD_RECORDS), (batch) =>
      postRequest('/api/feedback', batch),
    );
    await sendAll(child.port, requests, 1);
    await child.fit().ended;
    await child.stop();
    const service = await startService(folder);
    const idle = await probe(service.port, size, probes, 1);
    const flood = await startFlood(service.port, size);
    const busy = await probe(service.port, size, probes, 2);
    const floodRate = await stopFlood(flood);
    await service.stop();
    const aimed = (bench: string, latenciesMs: readonly number[], aimMs: number) =>
      ratioRow(bench, 'ms', quantile(latenciesMs, 0.99), 'the aim, ms', aimMs, '<= 1');
    const half = (bench: string, latenciesMs: readonly number[]) =>
      ratioRow(bench, 'ms', quantile(latenciesMs, 0.5), 'none', Number.NaN);
    const meanwhile = `while ${Math.round(floodRate)} feedback/s arrive`;
    return [
      half('p50 of a click to another list, idle', idle),
      aimed('p99 of a click to another list, idle', idle, 10),
      half(`p50 ${meanwhile}`, busy),
      aimed(`p99 ${meanwhile}`, busy, 100),
    ];
  });
}

/** @returns milliseconds from the answer to a POST to the answer that shows it, one a probe */
async function probe(port: number, size: WorldSize, probes: number, seed: number): Promise<number[]> {
  const random = createRandom(seed);
  const asker = await Asker.open(port);
  const latenciesMs: number[] = [];
  while (latenciesMs.length < probes) {
    const UserId = userIdOf(Math.floor(size.users * random.float() ** 2));
    const list = getRequest(`/api/recommend/${UserId}?n=${LIST_LENGTH}`);
    const before = await asker.askJson<string[]>(list);
    const ItemId = itemIdOf(random.below(size.items));
    const kept = before.filter((id) => id !== ItemId);
    await asker.ask(postRequest('/api/feedback', [likeOf(UserId, ItemId)]));
    const start = performance.now();
    for (let asked = 0; asked < QUESTIONS_MAX; asked++) {
      const now = await asker.askJson<string[]>(list);
      if (kept.every((id, at) => id === now[at])) continue;
      latenciesMs.push(performance.now() - start);
      break;
    }
  }
  asker.close();
  return latenciesMs;
}

/**
 * Has another process post feedback to a server: at a pace from the beginning, or with a pace of 0 as fast as it goes once it
 * is told to.
 */
export async function startPosting(
  port: number,
  { users, items }: WorldSize,
  { batchRecords, paceMs }: { readonly batchRecords: number; readonly paceMs: number },
): Promise<ChildProcess> {
  const numbers = [port, batchRecords, users, items, paceMs].map(String);
  const client = fork(CLIENT, numbers, { execArgv: ['--import', 'tsx'] });
  await once(client, 'message');
  return client;
}

export function startFlood(port: number, size: WorldSize): Promise<ChildProcess> {
  return startPosting(port, size, FLOOD);
}

/** @returns the records a second that were answered */
export async function stopFlood(client: ChildProcess): Promise<number> {
  const rate = once(client, 'message');
  client.send('stop');
  return Number((await rate)[0]);
}
