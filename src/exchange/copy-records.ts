import { isDeepStrictEqual } from 'node:util';
import { counted } from '../domain/group-digits.ts';
import { type LabelFields, withGivenLabels } from '../domain/labels.ts';
import { OperatorError } from '../domain/operator-error.ts';
import type { DataReader } from '../store/data-store.ts';
import { detailsOf, eventsOfDetails, type FeedbackDetails } from '../store/feedback-details.ts';
import type { ApiRecord, Source } from './copy-sources.ts';
import type { Kind } from './guess-columns.ts';
import type { Target } from './import-targets.ts';
import { encodeBatch } from './refused-rows.ts';
import type { ResumePoint } from './resume-point.ts';

/** Users and items before the feedback that names them. */
export const KINDS: readonly Kind[] = ['users', 'items', 'feedback'];

export type Counts = Readonly<Record<Kind, number>>;

const NOTHING: Counts = { users: 0, items: 0, feedback: 0 };

/** The progress of a copy: all records before the cursor of this kind, and all of the kinds before it. */
export interface CopyState {
  readonly kind: Kind;
  /** Empty when all of the kind are copied; absent while none are. */
  readonly cursor?: string;
  readonly copied: Counts;
}

/** A copy that may have stored its first page. */
export const BEGUN: CopyState = { kind: 'users', copied: NOTHING };

export interface CopyOptions {
  readonly source: Source;
  readonly target: Target;
  /** Counts the events of feedback that happened several times, where the source gives details. */
  readonly counting?: Target;
  /** Where it is kept how far it has come, so that a copy that was cut off goes on. */
  readonly resumePoint: ResumePoint<CopyState>;
  /** Told how many records of a kind are copied. */
  readonly onProgress: (kind: Kind, records: number) => void;
}

/**
 * Copies all records, each page being one transaction. A page that was stored right before a cut is stored again, which
 * changes nothing.
 * @returns how many records there were of each kind, in earlier runs of this copy too
 * @throws OperatorError when a record cannot be stored
 */
export async function copyRecords(options: CopyOptions): Promise<Counts> {
  const { source, target, counting, resumePoint, onProgress } = options;
  const before = resumePoint.read() ?? BEGUN;
  // Written ahead of the first page, so that what a cut leaves in the target is known for what it is.
  resumePoint.write(before);
  let { copied } = before;
  for (const kind of KINDS.slice(KINDS.indexOf(before.kind))) {
    const from = kind === before.kind ? before.cursor : undefined;
    if (from === '') continue;
    for await (const { rows, cursor } of source(kind, from)) {
      if (kind === 'feedback') await storeFeedback(target, counting, rows as readonly FeedbackDetails[]);
      else await store(target, kind, rows);
      copied = { ...copied, [kind]: copied[kind] + rows.length };
      resumePoint.write({ kind, cursor, copied });
      onProgress(kind, copied[kind]);
    }
  }
  return copied;
}

/** Records of one batch, when each event of feedback is a record. */
const EVENTS_A_BATCH = 1000;

async function storeFeedback(
  target: Target,
  counting: Target | undefined,
  rows: readonly FeedbackDetails[],
): Promise<void> {
  const once = rows.filter(({ Occurrences }) => counting === undefined || Occurrences === undefined);
  await store(
    target,
    'feedback',
    once.map((row) => eventsOfDetails(row)[0]!),
  );
  if (counting === undefined || once.length === rows.length) return;
  const events = rows.flatMap((row) => (row.Occurrences === undefined ? [] : eventsOfDetails(row)));
  for (let from = 0; from < events.length; from += EVENTS_A_BATCH)
    await store(counting, 'feedback', events.slice(from, from + EVENTS_A_BATCH));
}

async function store(target: Target, kind: Kind, rows: readonly ApiRecord[]): Promise<void> {
  if (rows.length === 0) return;
  try {
    await target.write(kind, encodeBatch(rows));
  } catch (error) {
    throw new OperatorError(`${kind} cannot be stored: ${(error as Error).message}`);
  }
}

export interface Comparison {
  readonly compared: Counts;
  /** The first records that differ or are missing, in words. */
  readonly different: readonly string[];
  readonly differentCount: number;
}

const DIFFERENCES_SHOWN = 10;

/**
 * Looks up each record of a source in a store and compares all of its fields, and the numbers of records.
 * @param source may give feedback with details, which are compared then
 */
export async function compareRecords(
  source: Source,
  reader: DataReader,
  onProgress: CopyOptions['onProgress'],
): Promise<Comparison> {
  const compared = { ...NOTHING };
  const different: string[] = [];
  let differentCount = 0;
  const differ = (what: string) => {
    differentCount++;
    if (different.length < DIFFERENCES_SHOWN) different.push(what);
  };
  for (const kind of KINDS) {
    for await (const { rows } of source(kind)) {
      for (const row of rows) {
        const found = await LOOK_UP[kind](reader, row as Named);
        if (found === undefined) differ(`${kind}: ${JSON.stringify(row)} is missing`);
        else if (!isDeepStrictEqual(plain(found), plain(row)))
          differ(`${kind}: ${JSON.stringify(row)} is ${JSON.stringify(found)}`);
      }
      compared[kind] += rows.length;
      onProgress(kind, compared[kind]);
    }
  }
  const stats = await reader.getStats();
  for (const kind of KINDS)
    if (stats[kind] !== compared[kind])
      differ(`${kind}: ${counted(stats[kind], 'records')} instead of ${compared[kind]}`);
  return { compared, different, differentCount };
}

/** A record as JSON has it, whatever it was read with. */
function plain(record: object): unknown {
  return JSON.parse(JSON.stringify(record));
}

function asAnswered<T extends LabelFields>(entity: T | undefined): object | undefined {
  return entity && withGivenLabels(entity);
}

/** The fields by which records are looked up. */
interface Named {
  readonly UserId: string;
  readonly ItemId: string;
  readonly FeedbackType: string;
  /** Of feedback with details. */
  readonly Count?: number;
}

const LOOK_UP: Readonly<Record<Kind, (reader: DataReader, row: Named) => Promise<object | undefined>>> = {
  users: async (reader, { UserId }) => asAnswered(await reader.getUser(UserId)),
  items: async (reader, { ItemId }) => asAnswered(await reader.getItem(ItemId)),
  feedback: async (reader, { FeedbackType, UserId, ItemId, Count }) => {
    const found = await reader.getFeedback(FeedbackType, UserId, ItemId);
    return found && Count !== undefined ? detailsOf(found, reader.local) : found;
  },
};
