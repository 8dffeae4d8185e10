import { parentPort, workerData } from 'node:worker_threads';
import { yieldToServing } from '../../platform/process/thread-priority.ts';
import { NOT_WHOLE } from '../commit-effects.ts';
import { buffersOf } from '../lmdb/changes/change-log.ts';
import { notePoint, readReplicaOf } from '../lmdb/tables/meta-table.ts';
import type { FromWriter, WriterOptions } from '../lmdb/tables/writer-messages.ts';
import { GroupWriter } from '../lmdb/writer/group-writer.ts';
import type { LoopMessage } from '../lmdb/writer/writer-loop.ts';
import { CommitLog } from './commit-log.ts';
import { PartialCopy } from './partial-copy.ts';
import { type Replica, ReplicaLoop } from './replica-loop.ts';
import { RowsOfCopy } from './rows-of-copy.ts';
import { flushCopy, openCopy } from './unflushed-copy.ts';

/* The one owner of writes to a replica: it writes to PostgreSQL, and to the replica what PostgreSQL has taken. */
yieldToServing('writing');
const port = parentPort!;
const { dataPath, sync, rules, mapBytes, sharedDatabase, isPartial, readsWait } = workerData as WriterOptions;
const tables = openCopy(dataPath, isPartial === true, mapBytes);
const copy = isPartial ? new PartialCopy(tables) : undefined;
const replica: Replica = copy ?? new GroupWriter(tables, rules);
const known = new RowsOfCopy(tables, (userRow) => copy !== undefined && !copy.isKnown(userRow));
const commitLog = new CommitLog(sharedDatabase!, rules, sync, known);

const loop = new ReplicaLoop({
  commitLog,
  replica,
  rules,
  point: readReplicaOf(tables)!,
  post,
  forsake: () => tables.engine.transact(() => notePoint(tables, NOT_WHOLE)),
  readsWait: readsWait === true,
  users: copy && { copy, read: (asked) => commitLog.readUsers(asked) },
  async close() {
    try {
      await commitLog.close();
      if (isPartial) await flushCopy(tables);
      await tables.engine.close();
    } finally {
      port.close();
    }
  },
});

function post(message: FromWriter): void {
  port.postMessage(message, message.kind === 'committed' ? buffersOf(message.changes) : []);
}

port.on('message', (message: LoopMessage) => loop.receive(message));
// Rejections that nobody handles come here, too.
process.on('uncaughtException', (error) => void loop.end(error));
post({ kind: 'ready', nextTransaction: replica.nextTransaction });
loop.start();
