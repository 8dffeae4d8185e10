import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Feedback } from '../../src/domain/entities.ts';
import { postRequest } from './connection.ts';
import { sendAll } from './load.ts';
import { processCpuMs, startService } from './processes.ts';
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
export async function benchInsert(size: WorldSize, batchRecords: number): Promise<Row[]> {
  const folder = await mkdtemp(join(tmpdir(), 'furze-bench-'));
  const service = await startService(folder);
  const recorder = new PutRecorder(join(folder, 'recorded'));
  const raw = new RawWriter(join(folder, 'raw'));
  const http = { ms: 0, cpuMs: 0 };
  const bare = { ms: 0, cpuMs: 0 };
  for (const batches of turns(size, batchRecords)) {
    const requests = batches.map(toRequest);
    const puts = batches.map((records) => recorder.record(records));
    await timed(http, service.allCpuMs, () => sendAll(service.port, requests, POSTING_CONNECTIONS));
    await timed(
      bare,
      () => processCpuMs(process.pid),
      () => raw.write(puts),
    );
  }
  await service.stop();
  await recorder.close();
  await raw.close();
  await rm(folder, { recursive: true });
  const row = (unit: string, furzeMs: number, referenceMs: number, aim: string): Row => ({
    bench: `POST /api/feedback, batches of ${batchRecords}`,
    unit,
    furze: (size.feedback / furzeMs) * 1000,
    reference: 'LMDB given the same puts',
    referenceValue: (size.feedback / referenceMs) * 1000,
    ratio: referenceMs / furzeMs,
    aim,
  });
  return [
    row('records/s', http.ms, bare.ms, '>= 0.5'),
    row('records/CPU second', http.cpuMs, bare.cpuMs, ''),
  ];
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

interface Spent {
  ms: number;
  cpuMs: number;
}

async function timed(spent: Spent, cpuMs: () => number, run: () => Promise<unknown>): Promise<void> {
  const startCpuMs = cpuMs();
  const start = performance.now();
  await run();
  spent.ms += performance.now() - start;
  spent.cpuMs += cpuMs() - startCpuMs;
}
