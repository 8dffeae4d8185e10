import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Feedback } from '../../src/domain/entities.ts';
import { DEFAULT_LIMITS } from '../../src/domain/request-limits.ts';
import { openStore } from '../../src/store/open/open-store.ts';
import { POSITIVE_TYPES, READ_TYPES } from '../http/processes.ts';
import { PutRecorder, RawWriter } from '../http/raw-replay.ts';
import { median, type Row } from '../http/statistics.ts';
import { feedbackBatches, type WorldSize } from '../http/world.ts';

/** Batches that wait at the store at a time, as a few clients would have them. */
const IN_FLIGHT = 4;
/** Batches of a turn; the store and bare LMDB take turns, so that both meet the same noise. */
const TURN_BATCHES = 10;

/** Feedback straight into the store, JSON to flushed, against bare LMDB given the very same puts in the same batches. */
export async function benchInsert(size: WorldSize, batchRecords: number): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'furze-bench-'));
  const { data, cache } = openStore({
    dataPath: join(folder, 'data'),
    cachePath: join(folder, 'cache'),
    sync: 'disk',
    limits: DEFAULT_LIMITS,
    autoInsertUser: true,
    autoInsertItem: true,
    positiveFeedbackTypes: POSITIVE_TYPES,
    readFeedbackTypes: READ_TYPES,
  });
  const recorder = new PutRecorder(join(folder, 'recorder'));
  const raw = new RawWriter(join(folder, 'raw'));
  const ours: number[] = [];
  const theirs: number[] = [];
  const takeTurn = async (batches: readonly (readonly Feedback[])[]) => {
    const records = batches.reduce((sum, batch) => sum + batch.length, 0);
    const puts = batches.map((batch) => recorder.record(batch));
    const bodies = batches.map((batch) => Uint8Array.from(Buffer.from(JSON.stringify(batch))));
    theirs.push(records / (await timeMs(() => raw.write(puts))));
    const writeAll = async () => {
      const client = async () => {
        for (let json = bodies.shift(); json !== undefined; json = bodies.shift()) {
          await data.write({ kind: 'putFeedback', overwrite: false, batch: { json, single: false } });
        }
      };
      await Promise.all(Array.from({ length: IN_FLIGHT }, client));
    };
    ours.push(records / (await timeMs(writeAll)));
  };
  // The writer thread starts with the first write.
  await data.write({ kind: 'deleteUser', userId: 'nobody' });
  let turn: Feedback[][] = [];
  for (const batch of feedbackBatches(size, batchRecords)) {
    turn.push(batch);
    if (turn.length < TURN_BATCHES) continue;
    await takeTurn(turn);
    turn = [];
  }
  if (turn.length > 0) await takeTurn(turn);
  await data.close();
  await cache.close();
  await recorder.close();
  await raw.close();
  rmSync(folder, { recursive: true });
  const furze = median(ours) * 1000;
  const referenceValue = median(theirs) * 1000;
  return {
    bench: `insert feedback, batches of ${batchRecords}`,
    unit: 'records/s',
    furze,
    reference: 'bare LMDB, same puts',
    referenceValue,
    ratio: furze / referenceValue,
    aim: '>= 0.5',
  };
}

async function timeMs(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
