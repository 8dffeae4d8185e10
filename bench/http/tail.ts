import { createRandom } from '../../src/domain/random.ts';
import { getRequest } from './connection.ts';
import { startPosting } from './freshness.ts';
import { measureLatencies } from './load.ts';
import { startBare, startService } from './processes.ts';
import { quantile, type Row, ratioRow } from './statistics.ts';
import { userIdOf, type WorldSize } from './world.ts';

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
  const service = await startService(folder, [], { learns: false });
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
  const client = await startPosting(service.port, size, { batchRecords: BATCH_RECORDS, paceMs: 0 });
  let posting = true;
  client.once('message', () => {
    posting = false;
  });
  client.send('go');
  const busy = await probe(() => posting);
  const after = await probe((asked) => asked < probes);
  await Promise.all(servers.map((server) => server.stop()));
  return [0.5, TAIL].flatMap((share) =>
    ['GET /api/user/{id}', 'bare uWebSockets.js'].map((name, at) => {
      const idleMs = quantile([...before[at]!, ...after[at]!], share);
      const bench = `p${share * 100} of ${name} while batches of ${BATCH_RECORDS} are posted`;
      const aim = share === TAIL && at === 0 ? '<= 3' : '';
      return ratioRow(bench, 'ms', quantile(busy[at]!, share), 'the same when idle', idleMs, aim);
    }),
  );
}
