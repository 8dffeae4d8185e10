// Posts made-up feedback at a steady pace until it is told to stop: the load beside a measurement of freshness.
import { performance } from 'node:perf_hooks';
import { Connection } from './connection.ts';
import { toRequest } from './insert.ts';
import { FULL_SIZE, feedbackBatches } from './world.ts';

/** Time between two batches, milliseconds. */
const PACE_MS = 20;
const PREPARED_BATCHES = 2000;

const [port, recordsPerSecond, users, items] = process.argv.slice(2).map(Number) as [
  number,
  number,
  number,
  number,
];
const batchRecords = Math.round((recordsPerSecond * PACE_MS) / 1000);
const size = { ...FULL_SIZE, users, items, feedback: batchRecords * PREPARED_BATCHES };
const requests = Array.from(feedbackBatches(size, batchRecords), toRequest);

let sent = 0;
let answered = 0;
const connection = await Connection.open(port, (count) => {
  answered += count;
});
const startedMs = performance.now();
const timer = setInterval(() => {
  // A server that falls behind is not buried: the next batch waits for the answer to the last.
  if (sent > answered) return;
  const due = Math.floor((performance.now() - startedMs) / PACE_MS) - sent;
  if (due < 1) return;
  connection.send(requests[sent++ % requests.length]!);
}, 1);
process.send?.('ready');
process.once('message', () => {
  clearInterval(timer);
  const seconds = (performance.now() - startedMs) / 1000;
  process.send?.((answered * batchRecords) / seconds);
  connection.close();
  process.disconnect();
});
