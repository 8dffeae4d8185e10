// Posts made-up feedback to the port it is given until it is told to end: the load beside a latency measurement.
import { POSTING_CONNECTIONS, toRequest } from './insert.ts';
import { sendAll } from './load.ts';
import { FULL_SIZE, feedbackBatches } from './world.ts';

const [port, batchRecords, users, items] = process.argv.slice(2).map(Number) as [
  number,
  number,
  number,
  number,
];
/** Requests made before the first is sent, so that making them takes nothing from what is measured. */
const PREPARED_RECORDS = 400_000;

const size = { ...FULL_SIZE, users, items, feedback: PREPARED_RECORDS };
const requests = Array.from(feedbackBatches(size, batchRecords), toRequest);
process.send?.('ready');
process.once('message', async () => {
  await sendAll(port, requests, POSTING_CONNECTIONS);
  process.send?.('done');
  process.disconnect();
});
