import { join } from 'node:path';
import type { Feedback } from '../../src/domain/entities.ts';
import { postRequest } from './connection.ts';
import { sendAll } from './load.ts';
import { startService, withFolder } from './processes.ts';
import { PutRecorder, RawWriter } from './raw-replay.ts';
import { ownCpuMs, type Row, ratioRow, Spent } from './statistics.ts';
import { feedbackBatches, type WorldSize } from './world.ts';

/** Records that each side writes before it is the other's turn. */
const TURN_RECORDS = 50_000;
/** Clients that post at the same time. */
export const POSTING_CONNECTIONS = 4;

/** A batch as the request that posts it. */
export function toRequest(records: readonly Feedback[]): Buffer {
  return postRequest('/api/feedback', records);
}

/** Feedback posted in batches against LMDB given the very same puts in the same batches, turn by turn. */
export function benchInsert(size: WorldSize, batchRecords: number): Promise<Row[]> {
  return withFolder(async (folder) => {
    const service = await startService(folder);
    const { own, raw } = await insertBesideRaw(folder, size, batchRecords, service.allCpuMs, (batches) => {
      const requests = batches.map(toRequest);
      return () => sendAll(service.port, requests, POSTING_CONNECTIONS);
    });
    await service.stop();
    const row = (per: string, furzeMs: number, rawMs: number, aim = '') => {
      const perSecond = (ms: number) => (size.feedback / ms) * 1000;
      const bench = `POST /api/feedback, batches of ${batchRecords}`;
      return ratioRow(
        bench,
        `records/${per}`,
        perSecond(furzeMs),
        'LMDB given the same puts',
        perSecond(rawMs),
        aim,
      );
    };
    return [row('s', own.ms, raw.ms, '>= 0.5'), row('CPU second', own.cpuMs, raw.cpuMs)];
  });
}

/**
 * Inserts all feedback of a world twice, turn by turn: as the caller does, and as bare LMDB with the same puts.
 * @param cpuMs processor time so far of those who insert as the caller does
 * @param prepare makes some batches ready and hands back what inserts them
 */
export async function insertBesideRaw(
  folder: string,
  size: WorldSize,
  batchRecords: number,
  cpuMs: () => number,
  prepare: (batches: readonly Feedback[][]) => () => Promise<unknown>,
): Promise<{ readonly own: Spent; readonly raw: Spent }> {
  const recorder = new PutRecorder(join(folder, 'recorded'));
  const writer = new RawWriter(join(folder, 'raw'));
  const [own, raw] = [new Spent(), new Spent()];
  for (const batches of turns(size, batchRecords)) {
    const insert = prepare(batches);
    const puts = batches.map((records) => recorder.record(records));
    await own.add(cpuMs, insert);
    await raw.add(ownCpuMs, async () => writer.write(puts));
  }
  await recorder.close();
  await writer.close();
  return { own, raw };
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
