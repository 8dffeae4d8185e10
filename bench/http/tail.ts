import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../../src/domain/random.ts';
import { getRequest } from './connection.ts';
import { measureLatencies } from './load.ts';
import { type ServerProcess, startBare, startService } from './processes.ts';
import { quantile, type Row } from './statistics.ts';
import { userIdOf, type WorldSize } from './world.ts';

const CLIENT = fileURLToPath(new URL('./bulk-client.ts', import.meta.url));
const BATCH_RECORDS = 10_000;
const PROBES = 5000;
/** Between an answer and the next question, so that the probe is no load itself. */
const PAUSE_MS = 1;
const TAIL = 0.99;

/** Bytes of a user as JSON, about. */
const BARE_BODY_BYTES = 90;

/**
 * The slow end of a point read's latency while feedback is posted as fast as it goes, against its idle value. A bare
 * handler is asked beside it, in the same moments: what it loses, it loses to the processors being busy.
 */
export async function benchTail(folder: string, size: WorldSize, probes: number): Promise<Row[]> {
  const service = await startService(folder);
  const bare = await startBare(BARE_BODY_BYTES);
  const servers = [service, bare];
  const random = createRandom(5);
  const requests = Array.from({ length: PROBES }, () =>
    getRequest(`/api/user/${userIdOf(random.below(size.users))}`),
  );
  const probe = (goOn: (asked: number) => boolean) =>
    Promise.all(servers.map(({ port }) => measureLatencies(port, requests, PAUSE_MS, goOn)));
  await probe((asked) => asked < probes / 4);
  const before = await probe((asked) => asked < probes);
  const client = await startClient(service.port, size);
  let posting = true;
  client.once('message', () => {
    posting = false;
  });
  client.send('go');
  const busy = await probe(() => posting);
  const after = await probe((asked) => asked < probes);
  await Promise.all(servers.map((server: ServerProcess) => server.stop()));
  return [0.5, TAIL].flatMap((share) =>
    ['GET /api/user/{id}', 'bare uWebSockets.js'].map((name, at) => {
      const busyMs = quantile(busy[at]!, share);
      const idleMs = quantile([...before[at]!, ...after[at]!], share);
      return {
        bench: `p${share * 100} of ${name} while batches of ${BATCH_RECORDS} are posted`,
        unit: 'ms',
        furze: busyMs,
        reference: 'the same when idle',
        referenceValue: idleMs,
        ratio: busyMs / idleMs,
        aim: share === TAIL && at === 0 ? '<= 3' : '',
      };
    }),
  );
}

async function startClient(port: number, size: WorldSize): Promise<ChildProcess> {
  const numbers = [port, BATCH_RECORDS, size.users, size.items].map(String);
  const client = fork(CLIENT, numbers, { execArgv: ['--import', 'tsx'] });
  await once(client, 'message');
  return client;
}
