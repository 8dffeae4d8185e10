import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../../src/domain/random.ts';
import { getRequest, postRequest } from './connection.ts';
import { sendAll } from './load.ts';
import { POSITIVE_TYPES } from './processes.ts';
import { quantile, type Row } from './statistics.ts';
import { feedbackBatches, itemIdOf, labelsOf, userIdOf, type WorldSize } from './world.ts';

const SERVER = fileURLToPath(new URL('./stall-server.ts', import.meta.url));
const BATCH_RECORDS = 10_000;
const AIM_MS = 5;
/** Items in a session. */
const SESSION_RECORDS = 10;

/** The longest turn of the server's event loop while a request was answered. */
interface Stall {
  readonly processorMs: number;
  readonly clockMs: number;
}

/** A kind of request, made anew each time it is sent. */
interface Kind {
  readonly name: string;
  readonly make: (at: number) => Buffer;
}

/**
 * The longest time that single requests occupy the main thread without a break: the median of so many of a kind, each
 * sent alone. Processor time, which other work on the machine does not lengthen, beside the time by the clock.
 */
export async function benchStalls(size: WorldSize, times: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  const server = fork(SERVER, [folder], { execArgv: ['--import', 'tsx'] });
  try {
    const port = Number((await once(server, 'message'))[0]);
    await sendAll(port, itemBatches(size), 1);
    const feedback = [...feedbackBatches(size, BATCH_RECORDS)];
    await sendAll(
      port,
      feedback.map((records) => postRequest('/api/feedback', JSON.stringify(records))),
      1,
    );
    const rows: Row[] = [];
    for (const { name, make } of kinds(size)) {
      // The first warms up.
      const stalls: Stall[] = [];
      for (let at = 0; at <= times; at++) {
        const stall = await stallOf(server, port, make(at));
        if (at > 0) stalls.push(stall);
      }
      rows.push(row(name, stalls));
    }
    return rows;
  } finally {
    const exited = once(server, 'exit');
    server.send('stop');
    await exited;
    await rm(folder, { recursive: true });
  }
}

function row(name: string, stalls: readonly Stall[]): Row {
  const median = (time: keyof Stall) =>
    quantile(
      stalls.map((stall) => stall[time]),
      0.5,
    );
  return {
    bench: `longest turn of ${name}, processor time`,
    unit: 'ms',
    furze: median('processorMs'),
    reference: 'the same by the clock',
    referenceValue: median('clockMs'),
    ratio: median('processorMs') / AIM_MS,
    aim: `<= 1 (of ${AIM_MS} ms)`,
  };
}

async function stallOf(server: ChildProcess, port: number, request: Buffer): Promise<Stall> {
  const begun = once(server, 'message');
  server.send('begin');
  await begun;
  await sendAll(port, [request], 1);
  const answer = once(server, 'message');
  server.send('read');
  return (await answer)[0] as Stall;
}

function item(id: string, random: ReturnType<typeof createRandom>) {
  return {
    ItemId: id,
    IsHidden: false,
    Categories: [random.below(2) === 0 ? 'large' : `small-${random.below(1000)}`],
    Timestamp: '2023-01-01T00:00:00Z',
    Labels: labelsOf(random),
    Comment: '',
  };
}

function itemBatches({ items }: WorldSize): Buffer[] {
  const random = createRandom(3);
  const bodies: Buffer[] = [];
  for (let from = 0; from < items; from += BATCH_RECORDS) {
    const length = Math.min(BATCH_RECORDS, items - from);
    const batch = Array.from({ length }, (_, at) => item(itemIdOf(from + at), random));
    bodies.push(postRequest('/api/items', JSON.stringify(batch)));
  }
  return bodies;
}

function kinds(size: WorldSize): Kind[] {
  const random = createRandom(4);
  const anItem = () => itemIdOf(random.below(size.items));
  const post = (path: string, body: unknown) => postRequest(path, JSON.stringify(body));
  const get = (name: string, path: (at: number) => string): Kind => ({
    name: `GET ${name}`,
    make: (at) => getRequest(path(at)),
  });
  const session = (itemIdAt: (at: number) => string) =>
    Array.from({ length: SESSION_RECORDS }, (_, at) => ({
      FeedbackType: POSITIVE_TYPES[0],
      UserId: '',
      ItemId: itemIdAt(at),
      Timestamp: '',
    }));
  return [
    { name: 'a session of new items', make: () => post('/api/session/recommend', session(anItem)) },
    { name: 'one item', make: (at) => post('/api/item', item(`one-${at}`, random)) },
    {
      name: 'a batch of 10,000 items',
      make: (at) =>
        post(
          '/api/items',
          Array.from({ length: BATCH_RECORDS }, (_, i) => item(`batch-${at}-${i}`, random)),
        ),
    },
    get('/api/latest after an item write', () => '/api/latest'),
    get('/api/popular', () => '/api/popular'),
    get('/api/popular/{category} of half the items', () => '/api/popular/large'),
    get('/api/item/{id}/neighbors by labels', () => `/api/item/${anItem()}/neighbors`),
    get('/api/user/{id}/neighbors', () => `/api/user/${userIdOf(0)}/neighbors`),
    get('/api/recommend of an unknown user and category', () => '/api/recommend/nobody/nowhere'),
    get('/api/recommend at offset 9,000', () => '/api/recommend/nobody?n=100&offset=9000'),
    get('/api/item/{id}/feedback of a popular item', () => `/api/item/${itemIdOf(0)}/feedback`),
  ];
}
