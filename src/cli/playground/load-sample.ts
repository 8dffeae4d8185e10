import type { Batch, DataStore, WriteCommand } from '../../store/data-store.ts';
import type { Sample } from './sample.ts';

/** Told how far a stage is, in records. */
export type OnProgress = (stage: string, done: number, total: number) => void;

/** Records in one transaction: small enough for a bar that moves. */
const BATCH_RECORDS = 2000;

/** Writes the sample. Writing it again changes nothing, so a load that was cut off is simply done again. */
export async function loadSample(data: DataStore, sample: Sample, onProgress: OnProgress): Promise<void> {
  const writeAll = async <T>(
    stage: string,
    records: readonly T[],
    command: (batch: Batch<T>) => WriteCommand,
  ): Promise<void> => {
    for (let done = 0; done < records.length; done += BATCH_RECORDS) {
      onProgress(stage, done, records.length);
      await data.write(command({ records: records.slice(done, done + BATCH_RECORDS) }));
    }
    onProgress(stage, records.length, records.length);
  };
  await writeAll('users', sample.users, (batch) => ({ kind: 'putUsers', batch }));
  await writeAll('films', sample.items, (batch) => ({ kind: 'putItems', batch }));
  await writeAll('ratings', sample.feedback, (batch) => ({ kind: 'putFeedback', overwrite: false, batch }));
}
