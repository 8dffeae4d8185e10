import { once } from 'node:events';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '../../src/domain/random.ts';
import { ChildService } from './child-service.ts';
import { getRequest } from './connection.ts';
import { sendAll } from './load.ts';
import { withFolder } from './processes.ts';
import { type Row, ratioRow } from './statistics.ts';
import { userIdOf, type WorldSize, worldRequests } from './world.ts';

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
export function benchLeaving(size: WorldSize, { clients, durationMs }: Leaving): Promise<Row[]> {
  return withFolder(async (folder) => {
    // The thread that answers makes no list itself, so that all work is counted.
    const service = await ChildService.start(folder, { remake_share: 0 });
    try {
      const { port } = service;
      const random = createRandom(12);
      await sendAll(port, [...worldRequests(size)], 1);
      await service.fit().ended;
      const before = await service.made();
      const asked = await crowd(port, size, random, clients, durationMs);
      const done = (await settled(service)) - before;
      const alone = await worstWait(port, size, random, 0);
      const beside = await worstWait(port, size, random, BOOSTED_BESIDE);
      const [work, wait] = [
        `work for ${clients} clients that go away`,
        `worst wait for a list beside ${BOOSTED_BESIDE} with boosts`,
      ];
      return [
        ratioRow(work, 'lists', done, 'asked for', asked, '<= 1.1'),
        ratioRow(wait, 'ms', beside, 'with nobody else', alone),
      ];
    } finally {
      await service.stop();
    }
  });
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

/** @returns the count of what was made once it rises no more */
async function settled(service: ChildService): Promise<number> {
  for (let last = await service.made(); ; ) {
    await delay(1000);
    const made = await service.made();
    if (made === last) return made;
    last = made;
  }
}
