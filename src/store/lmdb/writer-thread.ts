import { parentPort, workerData } from 'node:worker_threads';
import { yieldToServing } from '../../domain/thread-priority.ts';
import { buffersOf } from './change-log.ts';
import { openDataTables } from './data-tables.ts';
import { GroupWriter } from './group-writer.ts';
import type { FromWriter, ToWriter, WriterOptions } from './messages.ts';
import { WriterLoop } from './writer-loop.ts';

/* The one owner of writes to the data environment. */
yieldToServing('writing');
const port = parentPort!;
const { dataPath, sync, rules, mapBytes } = workerData as WriterOptions;
const tables = openDataTables(dataPath, { mapBytes });
const writer = new GroupWriter(tables, rules);

const loop = new WriterLoop({
  sync,
  write: (writes) => writer.write(writes),
  hasSlices: () => writer.hasSlices,
  slice: () => writer.slice(),
  flush: () => tables.engine.flush(),
  flushNow: () => tables.engine.flushNow(),
  probe: (bytes) => writer.probe(bytes),
  nextTransaction: () => writer.nextTransaction,
  post,
  async close() {
    await tables.engine.close();
    port.close();
  },
});

function post(message: FromWriter): void {
  port.postMessage(message, message.kind === 'committed' ? buffersOf(message.changes) : []);
}

port.on('message', (message: ToWriter) => loop.receive(message));
post({ kind: 'ready', nextTransaction: writer.nextTransaction });
loop.start();
