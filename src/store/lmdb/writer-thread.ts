import { parentPort, workerData } from 'node:worker_threads';
import { yieldToServing } from '../../platform/process/thread-priority.ts';
import { buffersOf } from './changes/change-log.ts';
import { LiveCompaction } from './maintenance/live-compaction.ts';
import { openDataTables } from './tables/data-tables.ts';
import type { FromWriter, ToWriter, WriterOptions } from './tables/writer-messages.ts';
import { GroupWriter } from './writer/group-writer.ts';
import { WriterLoop } from './writer/writer-loop.ts';

/* The one owner of writes to the data environment. */
yieldToServing('writing');
const port = parentPort!;
const { dataPath, rules, mapBytes } = workerData as WriterOptions;
const tables = openDataTables(dataPath, { mapBytes });
const writer = new GroupWriter(tables, rules);
let compaction: LiveCompaction | undefined;
let compacting: Promise<void> | undefined;
let followed = () => {};

const loop = new WriterLoop({
  write(writes) {
    const group = writer.write(writes);
    // A disk that is full has no room for a copy.
    if (group.failure !== undefined) compaction?.cancel();
    return group;
  },
  hasSlices: () => writer.hasSlices,
  slice: () => writer.slice(),
  probe: (bytes) => writer.probe(bytes),
  nextTransaction: () => writer.nextTransaction,
  post,
  async close() {
    try {
      compaction?.cancel();
      await compacting;
      await tables.engine.close();
    } finally {
      port.close();
    }
  },
});

/** Compacts the store; what comes of it is told. */
async function compact(): Promise<void> {
  try {
    compaction = LiveCompaction.begin({
      tables,
      exclusively: (action) => loop.exclusively(action),
      replaced() {
        writer.renew();
        post({ kind: 'replaced', nextTransaction: writer.nextTransaction });
        return new Promise((resolve) => {
          followed = resolve;
        });
      },
      onProgress: (done, total) => post({ kind: 'compacting', done, total }),
    });
    post({ kind: 'compacted', result: await compaction.run(), error: undefined });
  } catch (error) {
    post({ kind: 'compacted', result: undefined, error: (error as Error).message });
  } finally {
    compaction = undefined;
  }
}

function post(message: FromWriter): void {
  port.postMessage(message, message.kind === 'committed' ? buffersOf(message.changes) : []);
}

port.on('message', (message: ToWriter) => {
  if (message.kind === 'compact') {
    // One that cannot begin has ended before it returns.
    compacting ??= compact().finally(() => {
      compacting = undefined;
    });
  } else if (message.kind === 'followed') followed();
  else loop.receive(message);
});
// Rejections that nobody handles come here, too.
process.on('uncaughtException', (error) => void loop.end(error));
post({ kind: 'ready', nextTransaction: writer.nextTransaction });
loop.start();
