import type { Feedback } from '../domain/entities.ts';
import { FurzeError } from '../domain/furze-error.ts';
import type { Kind } from './guess-columns.ts';
import type { FilePlan } from './import-plan.ts';
import type { Target } from './import-targets.ts';
import { type MadeRow, madeRows } from './made-rows.ts';
import { type OpenedText, openText } from './open-text-file.ts';
import { areValid, encodeBatch, type RecordLine, type RefusedRow, RefusedRows } from './refused-rows.ts';
import type { ImportPosition, ResumePoint } from './resume-point.ts';

/** Records in one batch, which is one transaction. */
const BATCH_RECORDS = 5000;
/** Batches under way at once: one is read while others are stored. */
const BATCHES_UNDER_WAY = 3;

/** The outcome of a file's rows. */
export interface FileResult {
  readonly path: string;
  readonly kind: Kind;
  /** True when rows were passed over that an earlier run had stored, which counts for nothing here. */
  readonly isResumed: boolean;
  /** Rows read, refused ones among them. */
  readonly rows: number;
  /** Rows that the target has now, or would have taken where nothing is stored: new, overwritten or there before. */
  readonly kept: number;
  /** Records that are new or were overwritten. */
  readonly stored: number;
  readonly refused: number;
  /** Rows that are left out by the state of their order, by that. */
  readonly leftOut: Readonly<Record<string, number>>;
  /** True when it was told to stop before the end. */
  readonly isStopped: boolean;
}

export interface ImportOptions {
  readonly plan: FilePlan;
  /** Absent: rows are checked and nothing is stored. */
  readonly target?: Target | undefined;
  readonly resumePoint?: ResumePoint<ImportPosition> | undefined;
  /** Goes on after refused rows; else the first one ends the import. */
  readonly skipsBad: boolean;
  readonly onRefused: (row: RefusedRow) => void;
  /** Shown every row before its record is checked or stored. */
  readonly onRow?: ((row: MadeRow) => void) | undefined;
  /** Told how far it is, in bytes of the file. */
  readonly onProgress: (bytes: number, bytesTotal: number) => void;
  /** Ends the import after the batches under way once it is aborted. */
  readonly signal: AbortSignal;
  /** The text when it is open already, as standard input is. */
  readonly opened?: OpenedText | undefined;
}

/**
 * Reads a file and stores its records batch by batch, in flat memory.
 * @throws OperatorError when the file cannot be read to its end or the target takes nothing
 */
export async function importFile(options: ImportOptions): Promise<FileResult> {
  return new FileImport(options).run();
}

class FileImport {
  private readonly options: ImportOptions;
  private readonly underWay: Promise<void>[] = [];
  private batch: RecordLine[] = [];
  private rows = 0;
  private kept = 0;
  private stored = 0;
  private readonly refused: RefusedRows;
  private readonly leftOut = new Map<string, number>();
  private failure: unknown;

  constructor(options: ImportOptions) {
    this.options = options;
    const { plan, skipsBad, onRefused } = options;
    this.refused = new RefusedRows({ path: plan.path, kind: plan.kind, skipsBad, onRefused });
  }

  async run(): Promise<FileResult> {
    const { resumePoint } = this.options;
    const before = resumePoint?.read();
    try {
      await this.readAfter(before?.line ?? 0);
    } catch (error) {
      // A text that was ended by the signal may end in the middle of anything.
      if (!this.isOver()) throw error;
    }
    const isStopped = this.isOver();
    if (!isStopped) await this.send();
    await Promise.all(this.underWay);
    if (this.failure !== undefined) throw this.failure;
    if (!isStopped) resumePoint?.remove();
    const { rows, kept, stored, refused } = this;
    const { path, kind } = this.options.plan;
    const isResumed = before !== undefined;
    const leftOut = Object.fromEntries(this.leftOut);
    return { path, kind, isResumed, rows, kept, stored, refused: refused.count, leftOut, isStopped };
  }

  private async readAfter(doneLine: number): Promise<void> {
    const { plan, signal, onProgress } = this.options;
    const opened = this.options.opened ?? openText(plan.path, plan.encoding, signal);
    for await (const rows of madeRows(plan, opened.chunks, doneLine)) {
      for (const row of rows) {
        if (this.isOver()) return;
        // A line of several rows is stored as a whole, since a resume point is behind it.
        if (this.batch.length >= BATCH_RECORDS && this.batch.at(-1)!.line !== row.line) await this.send();
        this.rows++;
        this.take(row);
      }
      onProgress(opened.bytesRead(), opened.bytesTotal);
      if (this.isOver()) return;
    }
  }

  private isOver(): boolean {
    return this.failure !== undefined || this.options.signal.aborted || this.refused.endsImport;
  }

  private take(row: MadeRow): void {
    const { line, made } = row;
    this.options.onRow?.(row);
    if ('leftOut' in made) this.leftOut.set(made.leftOut, (this.leftOut.get(made.leftOut) ?? 0) + 1);
    else if ('refusal' in made) this.refused.refuse(line, made.refusal);
    else this.batch.push({ line, record: made.record });
  }

  /** Hands the batch over; waits while as many as may be are under way. */
  private async send(): Promise<void> {
    const lines = this.batch;
    this.batch = [];
    if (lines.length === 0) return;
    if (this.underWay.length >= BATCHES_UNDER_WAY) await this.underWay[0];
    const earlier = this.underWay.at(-1) ?? Promise.resolve();
    const one = this.store(lines).then(
      // In order, so that a resume point vouches for every line before it.
      (taken) => earlier.then(() => this.settle(lines, taken)),
      (error: unknown) => {
        this.failure ??= error;
      },
    );
    this.underWay.push(one);
    one.then(() => this.underWay.shift());
  }

  private settle(lines: readonly RecordLine[], { kept, stored }: Taken): void {
    this.kept += kept;
    this.stored += stored;
    if (this.failure !== undefined || this.refused.endsImport) return;
    this.options.resumePoint?.write({ line: lines.at(-1)!.line });
  }

  private async store(lines: readonly RecordLine[]): Promise<Taken> {
    const { plan, target } = this.options;
    if (target === undefined) {
      const isTyped = plan.kind === 'feedback' && plan.isApiForm !== true;
      const isValid = areValid(plan.kind, recordsOf(lines), isTyped);
      return { kept: (isValid ? lines : this.refused.keepGood(lines)).length, stored: 0 };
    }
    try {
      return await this.write(target, lines);
    } catch (error) {
      if (!(error instanceof FurzeError)) throw error;
      const good = this.refused.keepGood(lines);
      if (good.length === lines.length) throw error;
      if (good.length === 0 || !this.options.skipsBad) return { kept: 0, stored: 0 };
      return this.write(target, good);
    }
  }

  private async write(target: Target, lines: readonly RecordLine[]): Promise<Taken> {
    const { kind, isApiForm = false } = this.options.plan;
    // What `recordOf` has made has the right types.
    const stored = await (kind === 'feedback' && !isApiForm && target.writeFeedback !== undefined
      ? target.writeFeedback(recordsOf(lines) as Feedback[])
      : target.write(kind, encodeBatch(recordsOf(lines))));
    return { kept: lines.length, stored };
  }
}

/** The outcome of the records of a batch. */
type Taken = Pick<FileResult, 'kept' | 'stored'>;

function recordsOf(lines: readonly RecordLine[]): object[] {
  return lines.map(({ record }) => record);
}
