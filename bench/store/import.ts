import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { importInto } from '../../src/cli/import/import.ts';
import { parseConfig } from '../../src/config/config.ts';
import { TYPES_SECTION, withFolder } from '../http/processes.ts';
import { PutRecorder, RawWriter } from '../http/raw-replay.ts';
import { median, ownCpuMs, type Row, ratioRow } from '../http/statistics.ts';
import { feedbackBatches, type WorldSize } from '../http/world.ts';

/** Records of a transaction of bare LMDB, as many as of a batch of an import that is not sorted. */
const BATCH = 5000;
/** Batches that bare LMDB is given at a time. */
const TURN_BATCHES = 10;
const ROUNDS = 3;

/**
 * `furze import` of a file of feedback into a stopped folder, from text to flushed, against bare LMDB given the puts that
 * the writer of a running service makes of the same records; both by the processor time of all threads.
 */
export function benchImport(size: WorldSize): Promise<Row> {
  return withFolder(async (folder) => {
    const file = join(folder, 'feedback.csv');
    writeFeedback(file, size);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const own = join(folder, String(round));
      mkdirSync(own);
      theirs.push(size.feedback / (await writeRaw(own, size)));
      ours.push(size.feedback / (await cpuSeconds(() => importFile(join(own, 'data'), file))));
      rmSync(own, { recursive: true });
    }
    const bench = 'furze import, stopped folder, by processor time';
    return ratioRow(bench, 'records/s', median(ours), 'bare LMDB, puts of batches', median(theirs), '>= 0.5');
  });
}

async function importFile(data: string, file: string): Promise<void> {
  const config = parseConfig(
    `[database]
data_store = "lmdb://${data}"
cache_store = "lmdb://${data}/cache"
${TYPES_SECTION}`,
    {},
  );
  const run = { paths: [file], preset: 'csv', wishes: { kind: 'feedback' }, isShown: true } as const;
  if ((await importInto(config, run)) !== 0) throw new Error('the import failed');
}

/** @returns seconds of processor time */
async function writeRaw(folder: string, size: WorldSize): Promise<number> {
  const recorder = new PutRecorder(join(folder, 'recorder'));
  const raw = new RawWriter(join(folder, 'raw'));
  let seconds = 0;
  let turn: ReturnType<PutRecorder['record']>[] = [];
  for (const batch of feedbackBatches(size, BATCH)) {
    turn.push(recorder.record(batch));
    if (turn.length < TURN_BATCHES) continue;
    seconds += await cpuSeconds(async () => raw.write(turn));
    turn = [];
  }
  seconds += await cpuSeconds(async () => raw.write(turn));
  await recorder.close();
  await raw.close();
  return seconds;
}

function writeFeedback(path: string, size: WorldSize): void {
  const file = openSync(path, 'w');
  writeSync(file, 'user,item,type,timestamp\n');
  for (const batch of feedbackBatches(size, BATCH)) {
    const lines = batch.map((each) => [each.UserId, each.ItemId, each.FeedbackType, each.Timestamp].join());
    writeSync(file, `${lines.join('\n')}\n`);
  }
  closeSync(file);
}

async function cpuSeconds(action: () => Promise<void>): Promise<number> {
  const before = ownCpuMs();
  await action();
  return (ownCpuMs() - before) / 1000;
}
