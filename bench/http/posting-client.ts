// Posts made-up feedback to a port beside a measurement. Arguments: port, records of a batch, users, items, milliseconds
// from batch to batch. Says when it is ready; goes on until it is told to stop, then tells the records a second that were answered.
// With a pace of 0 it begins when it is told to, posts all it has by four clients, and tells when that is done.
import { performance } from 'node:perf_hooks';
import { Connection } from './connection.ts';
import { POSTING_CONNECTIONS, toRequest } from './insert.ts';
import { sendAll } from './load.ts';
import { FULL_SIZE, feedbackBatches } from './world.ts';

/** Records of the requests made before the first is sent, so that making them takes nothing from what is measured. */
const PREPARED_RECORDS = 400_000;

const [port = 0, batchRecords = 0, users = 0, items = 0, paceMs = 0] = process.argv.slice(2).map(Number);
const size = { ...FULL_SIZE, users, items, feedback: PREPARED_RECORDS };
const requests = Array.from(feedbackBatches(size, batchRecords), toRequest);

const told = new Promise((resolve) => process.once('message', resolve));
if (paceMs === 0) {
  process.send?.('ready');
  await told;
  await sendAll(port, requests, POSTING_CONNECTIONS);
  process.send?.('done');
} else {
  let sent = 0;
  let answered = 0;
  const connection = await Connection.open(port, (count) => {
    answered += count;
  });
  const beganMs = performance.now();
  const timer = setInterval(() => {
    // A server that falls behind is not buried: the next batch waits for the answer to the last.
    const due = Math.floor((performance.now() - beganMs) / paceMs) - sent;
    if (sent === answered && due > 0) connection.send(requests[sent++ % requests.length]!);
  }, 1);
  process.send?.('ready');
  await told;
  clearInterval(timer);
  process.send?.((answered * batchRecords * 1000) / (performance.now() - beganMs));
  connection.close();
}
process.disconnect();
