import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { alsFitMemory } from '../../src/model/als/memory-estimate.ts';
import { alsShape } from '../../src/model/als/memory-layout.ts';
import { alsSettings } from '../../src/model/als/settings.ts';
import { clickTrainingBytes } from '../../src/model/click/train.ts';
import { slimMemoryBytes } from '../../src/model/slim/memory-layout.ts';
import { slimSettings } from '../../src/model/slim/settings.ts';
import { SOLVED_ITEMS_MAX } from '../../src/model/slim/train-and-serve.ts';
import { gather } from '../../src/threads/gather-training-data.ts';
import { dataPathOf, POSITIVE_TYPES } from './processes.ts';

/** The longest list that a service with default settings asks its model for, see `startService`. */
const LIST_LENGTH_MAX = 1100;

/** The memory that each stage of the fit takes, worked out from the same data as the service does beforehand. */
export function computedMemory(folder: string, feedback: number): ReadonlyMap<string, number> {
  const settings = alsSettings({});
  const gathered = gather({
    kind: 'gather',
    dataPath: dataPathOf(folder),
    positiveTypes: POSITIVE_TYPES,
    sinceMs: Number.NEGATIVE_INFINITY,
    untilMs: Number.POSITIVE_INFINITY,
    seed: settings.seed,
    leavesOut: true,
    heldBytes: 0,
    budgetBytes: Number.POSITIVE_INFINITY,
    cancelled: new Int32Array(new SharedArrayBuffer(4)),
  });
  if (gathered === undefined) throw new Error('the made-up data has no positive feedback');
  const { interactions, positives, heldOut } = gathered;
  const { userCount, itemCount, count } = interactions;
  const slots = availableParallelism();
  const shape = alsShape(interactions, settings, slots, heldOut);
  const { training, models } = alsFitMemory(shape, { slots: slots + 2, listLengthMax: LIST_LENGTH_MAX });
  // Both orientations stay from the first stage to the last but one.
  const kept = models + 8 * count + 4 * (userCount + itemCount + 2);
  const pairs = { positives, negatives: feedback - positives };
  // The positives' users beside the matrix, and the negatives.
  const columns = 4 * pairs.positives + 8 * pairs.negatives;
  const clicks = clickTrainingBytes({ ...pairs, users: userCount, items: itemCount, labels: 0 }) + columns;
  const solvedItems = Math.min(itemCount, SOLVED_ITEMS_MAX);
  const matrix = { userCount, itemCount, count, slots, solvedItems };
  const weights = slimMemoryBytes({ ...matrix, settings: slimSettings({}) });
  return new Map([
    ['Training ALS', kept + training],
    ['Training click-through model', kept + clicks],
    ['Training SLIM', kept + weights],
    ['Writing recommendations', models],
  ]);
}

/** Resident memory of a process that is no page of a file, NaN where the system does not tell. */
export function ownBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = (name: string) => Number(new RegExp(`^${name}:\\s*(\\d+)`, 'm').exec(status)?.[1]);
    return (kib('RssAnon') + kib('RssShmem')) * 1024;
  } catch {
    return Number.NaN;
  }
}
