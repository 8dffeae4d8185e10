import { statfsSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { getOrPut } from '../../../domain/get-or-put.ts';
import { groupDigits } from '../../../domain/group-digits.ts';
import { OperatorError } from '../../../domain/operator-error.ts';
import type { TemporaryFolder } from '../../../platform/files/temporary-folder.ts';
import { checkCommand } from '../../check-command.ts';
import type { WriteCommand, WriteResult } from '../../data-store.ts';
import { DecimalSum } from '../../decimal-sum.ts';
import { PairMerge, type PairRecord } from '../../pair-merge.ts';
import { countIn, type StoredFeedback } from '../../repeats.ts';
import { ChangeLog } from '../changes/change-log.ts';
import { beginRecent } from '../changes/recent-feedback.ts';
import { packTimeLow, packTypeAndTime, rowKey, unpackTimeMs, unpackType } from '../format/record-layout.ts';
import { beginCopy, takePlace } from '../maintenance/unfinished-copies.ts';
import { LmdbDataReader } from '../reads/lmdb-data-reader.ts';
import { type DataTables, openDataTables } from '../tables/data-tables.ts';
import { readState, readTypes, type StoreState, writeState, writeTypes } from '../tables/meta-table.ts';
import type { WriteRules } from '../tables/writer-messages.ts';
import { FeedbackLoader, type Note } from '../writer/feedback-loader.ts';
import { type MergedRuns, type RunSizes, SortedRuns } from './sorted-runs.ts';
import { type EditClass, SortingApplier } from './sorting-applier.ts';
import { ValuesAndCommentsFile } from './values-and-comments-file.ts';

/** Pairs that are sorted by item at once: 67 MB, and 34 more meanwhile. */
const LOADER_SIZES = { batchRecords: 65_536, linksMax: 2 ** 23 };
/** Records after which whoever waits gets a turn. */
const TURN_RECORDS = 65_536;
/** Comments and values that are written in one transaction. */
const NOTES_A_TRANSACTION = 5000;

export interface FinishOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (records: number, recordsTotal: number) => void;
}

/** Rules for feedback that is taken all at once. */
export interface BulkOptions {
  readonly sizes?: RunSizes;
  /** Of records of one user, item and type the values are added up; else those that do not stay count for nothing. */
  readonly sumsValues?: boolean;
}

/**
 * Takes feedback into a store that has none: all of it is sorted first, so that each page of the store is written once rather
 * than once for each record. It is made beside the store, in a folder that the next start removes should this process be
 * killed, and put in its place as a whole. Nobody may have the store open.
 */
export class BulkImport {
  private readonly dataPath: string;
  private readonly rules: WriteRules;
  private readonly partial: TemporaryFolder;
  private readonly tables: DataTables;
  private readonly runs: SortedRuns;
  private readonly notes: ValuesAndCommentsFile;
  private readonly classes: EditClass[] = [];
  private readonly sumsValues: boolean;
  private applier: SortingApplier;
  /** Read feedback that positive feedback of its pair has taken the place of; known once all is stored. */
  replacedReads = 0;
  /** As the present source found it. */
  private before: { readonly state: StoreState; readonly types: readonly string[] };
  private isOver = false;
  /** The first error of the disk; nothing is written after it. */
  private failure: unknown;

  /**
   * @param dataPath of a store without feedback
   * @param options what is sorted in memory, and whether the values of records of one user, item and type are added up
   */
  static async begin(dataPath: string, rules: WriteRules, options: BulkOptions = {}): Promise<BulkImport> {
    const partial = beginCopy(dataPath);
    try {
      const { engine } = openDataTables(dataPath);
      await engine.copyCompact(partial.path).finally(() => engine.close());
      return new BulkImport(dataPath, rules, partial, options);
    } catch (error) {
      partial.remove();
      throw inWords(error, dataPath);
    }
  }

  private constructor(dataPath: string, rules: WriteRules, partial: TemporaryFolder, options: BulkOptions) {
    this.dataPath = dataPath;
    this.rules = rules;
    this.partial = partial;
    this.tables = openDataTables(partial.path, { isScratch: true });
    this.runs = new SortedRuns(partial.path, options.sizes);
    this.sumsValues = options.sumsValues === true;
    this.notes = new ValuesAndCommentsFile(partial.path);
    this.applier = this.newApplier();
    this.before = this.present();
  }

  /** Begins another file. @returns its number, counted up from 1 */
  beginSource(): number {
    this.before = this.present();
    return this.writing(() => this.runs.beginSource());
  }

  /** Forgets the feedback of the present source, with the users, items and types that came by it alone. */
  dropSource(): void {
    if (this.failure !== undefined) return;
    const { tables, before } = this;
    const { local } = new LmdbDataReader(tables);
    const { nextUserRow, nextItemRow } = readState(tables);
    this.runs.dropSource();
    this.transact(() => {
      for (let row = before.state.nextUserRow; row < nextUserRow; row++) {
        tables.userIds.remove(Buffer.from(local.userIdAt(row)!));
        tables.users.remove(rowKey(row));
      }
      for (let row = before.state.nextItemRow; row < nextItemRow; row++) {
        tables.itemIds.remove(Buffer.from(local.itemIdAt(row)!));
        tables.items.remove(rowKey(row));
      }
      writeState(tables, before.state);
      writeTypes(tables, before.types);
    });
    this.applier = this.newApplier();
  }

  /**
   * Carries out a command by the rules of any store.
   * @returns how many users or items were written; of feedback that is known in the end, and 0 here
   * @throws FurzeError when the command is refused; nothing of it is kept then
   */
  async write(command: WriteCommand): Promise<WriteResult> {
    const checked = checkCommand(command, this.rules, Date.now());
    return this.transact(() => {
      const log = new ChangeLog();
      const result = this.applier.apply(checked, log);
      this.applier.finish([log]);
      return result;
    });
  }

  /**
   * Stores everything; from then on it is there, or nothing of it when the signal came first.
   * @returns by source, of which the first has number 1, how many records are new or were overwritten; undefined when nothing is stored
   */
  async finish(options: FinishOptions): Promise<readonly number[] | undefined> {
    const { tables, partial, dataPath } = this;
    try {
      if (this.failure !== undefined) throw this.failure;
      const written = await this.load(options);
      if (written === undefined) return undefined;
      beginRecent(tables, true);
      await tables.engine.flush();
      await this.close();
      takePlace(partial.path, dataPath);
      return written;
    } catch (error) {
      throw inWords(error, dataPath);
    } finally {
      await this.discard();
    }
  }

  /** Removes what was made beside the store; does nothing once all is stored. */
  async discard(): Promise<void> {
    await this.close();
    this.partial.remove();
  }

  private async close(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    this.runs.close();
    this.notes.close();
    await this.tables.engine.close();
  }

  private transact<T>(action: () => T): T {
    return this.writing(() => this.tables.engine.transact(action));
  }

  private writing<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      const inOwnWords = inWords(error, this.dataPath);
      if (inOwnWords !== error) this.failure = inOwnWords;
      throw inOwnWords;
    }
  }

  /** One that knows what there is now. */
  private newApplier(): SortingApplier {
    const { runs, notes, classes } = this;
    return new SortingApplier(this.tables, this.rules, { runs, notes, classes });
  }

  private present(): { state: StoreState; types: readonly string[] } {
    return { state: readState(this.tables), types: readTypes(this.tables) };
  }

  private async load({ signal, onProgress }: FinishOptions): Promise<readonly number[] | undefined> {
    const { runs, notes, classes, applier } = this;
    const total = Math.max(runs.length, 1);
    const types = readTypes(this.tables).map((name, type) => [type, name] as const);
    const merge = new PairMerge(applier.typeRoles);
    const loader = new FeedbackLoader(this.tables, types, LOADER_SIZES);
    const pairs = new PairLoader(loader, { merge, notesFile: notes, classes, sumsValues: this.sumsValues });
    const merged = runs.merge();
    for (let taken = 0; merged.next(); taken++) {
      if (taken % TURN_RECORDS === 0) {
        await nextTurn();
        if (signal.aborted) return undefined;
        onProgress(taken, total);
      }
      pairs.take(merged);
    }
    pairs.finish();
    this.replacedReads = merge.replacedReads;
    onProgress(total, total);
    return signal.aborted ? undefined : pairs.written;
  }
}

/** Hands over the feedback of pair after pair, as the edits of each leave it. */
class PairLoader {
  /** Records that are new or were overwritten, by source. */
  readonly written: number[] = [];
  private readonly loader: FeedbackLoader;
  private readonly parts: {
    readonly merge: PairMerge;
    readonly notesFile: ValuesAndCommentsFile;
    readonly classes: readonly EditClass[];
    readonly sumsValues: boolean;
  };
  private userRow = -1;
  private itemRow = -1;
  /** Of each edit of the pair. */
  private readonly noteNumbers: number[] = [];
  private readonly timesMs: number[] = [];
  private readonly types: number[] = [];
  private readonly sources: number[] = [];
  private notes: Note[] = [];

  constructor(loader: FeedbackLoader, parts: PairLoader['parts']) {
    this.loader = loader;
    this.parts = parts;
  }

  take({ userRow, itemRow, typeAndTime, timeLow, note, source }: MergedRuns): void {
    if (userRow !== this.userRow || itemRow !== this.itemRow) {
      this.endPair();
      this.userRow = userRow;
      this.itemRow = itemRow;
    }
    const { merge, classes } = this.parts;
    const { kind, type, isPositive } = classes[unpackType(typeAndTime)]!;
    const timeMs = unpackTimeMs(timeLow, typeAndTime);
    merge.apply(kind, type, timeMs, this.sources.length, isPositive);
    this.timesMs.push(timeMs);
    this.sources.push(source);
    this.noteNumbers.push(note);
    this.types.push(type);
  }

  finish(): void {
    this.endPair();
    this.loader.finish();
    this.loader.putNotes(this.notes);
  }

  private endPair(): void {
    const { loader, userRow, itemRow, written } = this;
    const { merge } = this.parts;
    merge.sort();
    for (const record of merge.records) {
      const { type, alive, position } = record;
      const source = this.sources[position]!;
      written[source] = (written[source] ?? 0) + 1;
      if (!alive) continue;
      const { timeMs, ...note } = this.feedbackOf(record);
      loader.add(userRow, itemRow, packTypeAndTime(type, timeMs), packTimeLow(timeMs));
      if (note.value !== 0 || note.comment !== '' || note.occurrences !== undefined)
        this.notes.push({ userRow, itemRow, type, ...note });
    }
    if (this.notes.length >= NOTES_A_TRANSACTION) {
      loader.putNotes(this.notes);
      this.notes = [];
    }
    merge.clear();
    this.sources.length = 0;
    this.noteNumbers.length = 0;
    this.timesMs.length = 0;
    this.types.length = 0;
  }

  /** The feedback that stays of a type, with all events where they count. */
  private feedbackOf({ type, timeMs, position, repeats }: PairRecord): StoredFeedback {
    const { notesFile, sumsValues } = this.parts;
    const { noteNumbers, types, timesMs, sources, written } = this;
    const { value, comment } = notesFile.read(noteNumbers[position]!);
    if (repeats.length === 0) {
      if (!sumsValues || types.length === 1) return { timeMs, value, comment };
      return { timeMs, comment, value: this.sumOf([...types.keys()].filter((at) => types[at] === type)) };
    }
    // Rows of one moment are one event, as the lines of an order that name an article twice.
    const byTime = new Map<number, number[]>();
    for (const at of [position, ...repeats]) getOrPut(byTime, timesMs[at]!, () => []).push(at);
    let feedback: StoredFeedback | undefined;
    for (const [eventMs, edits] of byTime) {
      const { comment } = notesFile.read(noteNumbers[edits[0]!]!);
      const value = this.sumOf(sumsValues ? edits : edits.slice(0, 1));
      const event = { timeMs: eventMs, value, comment };
      if (feedback === undefined) feedback = event;
      else {
        feedback = countIn(feedback, [event]).feedback;
        const source = sources[edits[0]!]!;
        written[source] = (written[source] ?? 0) + 1;
      }
    }
    return feedback!;
  }

  private sumOf(edits: Iterable<number>): number {
    const sum = new DecimalSum();
    for (const at of edits) sum.add(this.parts.notesFile.read(this.noteNumbers[at]!).value);
    return sum.value;
  }
}

/** Failures of the disk as a person can do something about them. */
function inWords(error: unknown, dataPath: string): unknown {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (error instanceof OperatorError || (typeof code !== 'number' && syscall === undefined)) return error;
  return new OperatorError(
    `Nothing of the feedback is stored: the folder ${dataPath} cannot be written: ${message}${roomLeft(dataPath)}`,
  );
}

/** Room on the disk, for LMDB calls a full one an input/output error. */
function roomLeft(path: string): string {
  try {
    const { bavail, bsize } = statfsSync(path);
    return `; its disk has ${groupDigits((bavail * bsize) / 1e6)} MB left`;
  } catch {
    // It is gone.
    return '';
  }
}
