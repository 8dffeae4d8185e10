import { insertBesideRaw } from '../http/insert.ts';
import { openFolder, withFolder } from '../http/processes.ts';
import { ownCpuMs, type Row, ratioRow } from '../http/statistics.ts';
import type { WorldSize } from '../http/world.ts';

/** Batches that wait at the store at a time, as a few clients would have them. */
const IN_FLIGHT = 4;

/** Feedback straight into the store, JSON to flushed, against bare LMDB given the very same puts in the same batches. */
export function benchInsert(size: WorldSize, batchRecords: number): Promise<Row> {
  return withFolder(async (folder) => {
    const { data, cache } = openFolder(folder, 'disk');
    // The writer thread starts with the first write.
    await data.write({ kind: 'deleteUser', userId: 'nobody' });
    const { own, raw } = await insertBesideRaw(folder, size, batchRecords, ownCpuMs, (batches) => {
      const bodies = batches.map((batch) => Uint8Array.from(Buffer.from(JSON.stringify(batch))));
      const client = async () => {
        for (let json = bodies.shift(); json !== undefined; json = bodies.shift())
          await data.write({ kind: 'putFeedback', overwrite: false, batch: { json, single: false } });
      };
      return () => Promise.all(Array.from({ length: IN_FLIGHT }, client));
    });
    await data.close();
    await cache.close();
    const perSecond = (ms: number) => (size.feedback / ms) * 1000;
    const bench = `insert feedback, batches of ${batchRecords}`;
    return ratioRow(
      bench,
      'records/s',
      perSecond(own.ms),
      'bare LMDB, same puts',
      perSecond(raw.ms),
      '>= 0.5',
    );
  });
}
