import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Feedback } from '../../src/domain/entities.ts';
import { postRequest } from './connection.ts';
import { sendAll } from './load.ts';
import { startService } from './processes.ts';
import { PutRecorder, RawWriter } from './raw-replay.ts';
import type { Row } from './statistics.ts';
import { feedbackBatches, type WorldSize } from './world.ts';

/** Records that each side writes before it is the other's turn. */
const TURN_RECORDS = 50_000;
/** Clients that post at the same time. */
export const POSTING_CONNECTIONS = 4;

/** A batch as the request that posts it. */
export function toRequest(records: readonly Feedback[]): Buffer {
  return postRequest('/api/feedback', JSON.stringify(records));
}

/** Feedback posted in batches against LMDB given the very same puts in the same batches, turn by turn. */
export async function benchInsert(size: WorldSize, batchRecords: number): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  const service = await startService(folder);
  const recorder = new PutRecorder(join(folder, 'recorded'));
  const raw = new RawWriter(join(folder, 'raw'));
  let httpMs = 0;
  let rawMs = 0;
  for (const batches of turns(size, batchRecords)) {
    const requests = batches.map(toRequest);
    const puts = batches.map((records) => recorder.record(records));
    httpMs += await timed(() => sendAll(service.port, requests, POSTING_CONNECTIONS));
    rawMs += await timed(() => raw.write(puts));
  }
  await service.stop();
  await recorder.close();
  await raw.close();
  await rm(folder, { recursive: true });
  return {
    bench: `POST /api/feedback, batches of ${batchRecords}`,
    unit: 'records/s',
    furze: (size.feedback / httpMs) * 1000,
    reference: 'LMDB given the same puts',
    referenceValue: (size.feedback / rawMs) * 1000,
    ratio: rawMs / httpMs,
    aim: '>= 0.5',
  };
}

function* turns(size: WorldSize, batchRecords: number): Generator<Feedback[][]> {
  let batches: Feedback[][] = [];
  for (const records of feedbackBatches(size, batchRecords)) {
    batches.push(records);
    if (batches.length * batchRecords < TURN_RECORDS) continue;
    yield batches;
    batches = [];
  }
  if (batches.length > 0) yield batches;
}

async function timed(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}
