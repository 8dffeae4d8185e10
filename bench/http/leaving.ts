import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { getRequest, postRequest } from './connection.ts';
import { sendAll } from './load.ts';
import type { Row } from './statistics.ts';
import { feedbackBatches, itemIdOf, labelsOf, userIdOf, type WorldSize } from './world.ts';

const SERVER = fileURLToPath(new URL('./leaving-server.ts', import.meta.url));
const BATCH_RECORDS = 10_000;
/** A client that goes away does so within this time, milliseconds. */
const STAY_MS_MAX = 100;
const LEAVING_SHARE = 0.7;
/** Requests that ask for a list of one's own, with a boost that nobody else has. */
const BOOSTED_SHARE = 0.5;
/** Lists with boosts that are asked for at a time beside ordinary ones. */
const BOOSTED_BESIDE = 60;
const ORDINARY = 40;

/** Length of the load, and the number of clients at a time. */
export interface Leaving {
  readonly clients: number;
  readonly durationMs: number;
}

/**
 * Work that is done for clients of whom most go away at any moment, beside the work that they asked for; and the longest
 * wait for an ordinary list while 60 lists with boosts are asked for all the time, beside that with nobody else.
 */
export async function benchLeaving(size: WorldSize, { clients, durationMs }: Leaving): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  const server = fork(SERVER, [folder], { execArgv: ['--import', 'tsx'] });
  try {
    const port = Number((await once(server, 'message'))[0]);
    const random = createRandom(12);
    const items = Array.from({ length: size.items }, (_, at) => ({
      ItemId: itemIdOf(at),
      Labels: labelsOf(random),
    }));
    await sendAll(port, [postRequest('/api/items', JSON.stringify(items))], 1);
    for (const records of feedbackBatches(size, BATCH_RECORDS))
      await sendAll(port, [postRequest('/api/feedback', JSON.stringify(records))], 1);
    await Promise.all([once(server, 'message'), server.send('fit')]);
    const before = await countOf(server);
    const asked = await crowd(port, size, random, clients, durationMs);
    const done = (await settled(server)) - before;
    const alone = await worstWait(port, size, random, 0);
    const beside = await worstWait(port, size, random, BOOSTED_BESIDE);
    return [
      {
        ...{ bench: `work for ${clients} clients that go away`, unit: 'lists', furze: done, aim: '<= 1.1' },
        ...{ reference: 'asked for', referenceValue: asked, ratio: done / asked },
      },
      {
        ...{
          bench: `worst wait for a list beside ${BOOSTED_BESIDE} with boosts`,
          unit: 'ms',
          furze: beside,
          aim: '',
        },
        ...{ reference: 'with nobody else', referenceValue: alone, ratio: beside / alone },
      },
    ];
  } finally {
    const exited = once(server, 'exit');
    server.send('stop');
    await exited;
    await rm(folder, { recursive: true });
  }
}

function request(size: WorldSize, random: Random, isBoosted: boolean): Buffer {
  const user = userIdOf(random.below(size.users));
  // No two are the same, so none can be answered by another.
  const boost = isBoosted ? `&boost=label-${random.below(9)}:${(1 + random.float()).toFixed(9)}` : '';
  return getRequest(`/api/recommend/${user}?n=10${boost}`);
}

/** Clients that ask and go away, or wait; each is followed by another. @returns how many asked */
async function crowd(
  port: number,
  size: WorldSize,
  random: Random,
  clients: number,
  durationMs: number,
): Promise<number> {
  const endMs = performance.now() + durationMs;
  let asked = 0;
  const client = async () => {
    while (performance.now() < endMs) {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      const closed = once(socket, 'close');
      const answered = once(socket, 'data').catch(() => {});
      socket.write(request(size, random, random.float() < BOOSTED_SHARE));
      asked++;
      const stays = random.float() > LEAVING_SHARE;
      await Promise.race(stays ? [answered, closed] : [delay(STAY_MS_MAX * random.float()), closed]);
      socket.destroy();
      await closed;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return asked;
}

/** @returns the longest wait for an ordinary list, milliseconds, while so many with boosts are waited for all the time */
async function worstWait(port: number, size: WorldSize, random: Random, boosted: number): Promise<number> {
  let isOver = false;
  const others = Array.from({ length: boosted }, async () => {
    while (!isOver) await sendAll(port, [request(size, random, true)], 1);
  });
  const ordinary = Array.from({ length: ORDINARY }, () => request(size, random, false));
  const waits = await sendAll(port, ordinary, 1);
  isOver = true;
  await Promise.all(others);
  return Math.max(...waits);
}

async function countOf(server: ChildProcess): Promise<number> {
  const [[count]] = await Promise.all([once(server, 'message'), server.send('count')]);
  return count as number;
}

/** @returns the count once it rises no more */
async function settled(server: ChildProcess): Promise<number> {
  for (let last = await countOf(server); ; ) {
    await delay(1000);
    const count = await countOf(server);
    if (count === last) return count;
    last = count;
  }
}
