import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createRandom } from '../../src/domain/random.ts';
import { getRequest } from './connection.ts';
import { measureLatencies } from './load.ts';
import { startService } from './processes.ts';
import { quantile, type Row } from './statistics.ts';
import { userIdOf, type WorldSize } from './world.ts';

const CLIENT = fileURLToPath(new URL('./bulk-client.ts', import.meta.url));
const BATCH_RECORDS = 10_000;
const PROBES = 5000;
/** Between an answer and the next question, so that the probe is no load itself. */
const PAUSE_MS = 1;
const TAIL = 0.99;

/** The slow end of a point read's latency while feedback is posted as fast as it goes, against its idle value. */
export async function benchTail(folder: string, size: WorldSize, probes: number): Promise<Row[]> {
  const service = await startService(folder);
  const random = createRandom(5);
  const requests = Array.from({ length: PROBES }, () =>
    getRequest(`/api/user/${userIdOf(random.below(size.users))}`),
  );
  const probe = (goOn: (asked: number) => boolean) =>
    measureLatencies(service.port, requests, PAUSE_MS, goOn);
  await probe((asked) => asked < probes / 4);
  const idleMs = await probe((asked) => asked < probes);
  const client = await startClient(service.port, size);
  let posting = true;
  client.once('message', () => {
    posting = false;
  });
  client.send('go');
  const busyMs = await probe(() => posting);
  idleMs.push(...(await probe((asked) => asked < probes)));
  await service.stop();
  return [0.5, TAIL].map((share) => {
    const [busy, idle] = [quantile(busyMs, share), quantile(idleMs, share)];
    return {
      bench: `p${share * 100} of GET /api/user/{id} while batches of ${BATCH_RECORDS} are posted`,
      unit: 'ms',
      furze: busy,
      reference: 'the same when idle',
      referenceValue: idle,
      ratio: busy / idle,
      aim: share === TAIL ? '<= 3' : '',
    };
  });
}

async function startClient(port: number, size: WorldSize): Promise<ChildProcess> {
  const numbers = [port, BATCH_RECORDS, size.users, size.items].map(String);
  const client = fork(CLIENT, numbers, { execArgv: ['--import', 'tsx'] });
  await once(client, 'message');
  return client;
}
