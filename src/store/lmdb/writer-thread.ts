import { parentPort, workerData } from 'node:worker_threads';
import { FurzeError, type PlainError } from '../../domain/errors.ts';
import { yieldToServing } from '../../domain/thread-priority.ts';
import { buffersOf } from './change-log.ts';
import { openDataTables } from './data-tables.ts';
import { type Group, GroupWriter } from './group-writer.ts';
import type { FromWriter, ToWriter, WriteAnswer, WriterOptions } from './messages.ts';

/*
 * The one owner of writes. All commands that wait are taken as a group into one transaction; while a group is being
 * flushed to the disk the next one is already written, so a busy store waits for the disk and not for itself.
 */
yieldToServing('writing');
const port = parentPort!;
const { dataPath, sync, rules } = workerData as WriterOptions;
const tables = openDataTables(dataPath);
const writer = new GroupWriter(tables, rules);

/**
 * Bytes of commands from which on no further one joins a transaction. It bounds how long the first waits for the last,
 * and how long the thread that serves is busy with what a commit changed: some ten thousand records at a time.
 */
const GROUP_BYTES_MAX = 1024 * 1024;

type Write = Extract<ToWriter, { kind: 'write' }>;
const waiting: Write[] = [];
let running = false;
let closing = false;
let flushing: Promise<void> = Promise.resolve();
let flushScheduled = false;

port.on('message', (message: ToWriter) => {
  if (message.kind === 'close') closing = true;
  else waiting.push(message);
  if (running) return;
  running = true;
  // Messages that came in the same turn are delivered before this runs, and make one group.
  setImmediate(() => run().catch(fail));
});

async function run(): Promise<void> {
  while (waiting.length > 0) {
    const group = writer.write(takeGroup());
    if (sync === 'disk') {
      await flushing;
      flushing = flushAndAnswer(group);
    } else {
      answer(group);
      flushSoon();
    }
    // Lets the messages in that have come meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
  }
  running = false;
  if (closing) await close();
}

async function flushAndAnswer(group: Group): Promise<void> {
  try {
    await tables.engine.flush();
  } catch (error) {
    answer({ answers: group.answers.map((each) => failed(each, error)), changes: group.changes });
    return;
  }
  answer(group);
}

/** Flushes behind the answers, one flush at a time: it covers all that was committed before it began. */
function flushSoon(): void {
  if (flushScheduled) return;
  flushScheduled = true;
  flushing = flushing.then(async () => {
    flushScheduled = false;
    try {
      await tables.engine.flush();
    } catch (error) {
      post({ kind: 'trouble', trace: traceOf(error) });
    }
  });
}

/**
 * Ends this thread in order after a failure that nobody foresaw: one torn down in the middle of a flush would take the
 * process, and so the reads, with it.
 */
async function fail(error: unknown): Promise<void> {
  post({ kind: 'failed', trace: traceOf(error) });
  await flushing;
  await tables.engine.close();
  port.close();
}

function failed({ ticket }: WriteAnswer, cause: unknown): WriteAnswer {
  const error: PlainError = new FurzeError(
    'STORE_UNAVAILABLE',
    'The store could not write to its disk.',
  ).toPlain();
  return { ticket, result: undefined, error, trace: traceOf(cause) };
}

function takeGroup(): Write[] {
  let bytes = 0;
  let count = 0;
  do bytes += sizeOf(waiting[count++]!);
  while (count < waiting.length && bytes < GROUP_BYTES_MAX);
  return waiting.splice(0, count);
}

function sizeOf({ command }: Write): number {
  return 'batch' in command && 'json' in command.batch ? command.batch.json.length : 0;
}

function answer({ answers, changes }: Group): void {
  port.postMessage({ kind: 'committed', answers, changes } satisfies FromWriter, buffersOf(changes));
}

function post(message: FromWriter): void {
  port.postMessage(message);
}

function traceOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

async function close(): Promise<void> {
  await flushing;
  await tables.engine.close();
  post({ kind: 'closed' });
  port.close();
}

post({ kind: 'ready' });
