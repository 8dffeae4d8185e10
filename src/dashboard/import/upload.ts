import { fillContinued } from '../../exchange/continued-rows.ts';
import { ImportReports } from '../../exchange/import-reports.ts';
import { type Plan, recordOf } from '../../exchange/rows-to-records.ts';
import { ApiError, api, pathOf } from '../api.ts';
import { type OpenedFile, type RowBatch, rowsOf } from './read-file.ts';

const BATCH_RECORDS = 5000;
/** Refused rows that are listed one by one. */
const REFUSALS_SHOWN = 100;

/** A row that is not stored, and why. */
export interface Refusal {
  readonly line: number;
  readonly reason: string;
}

export interface UploadState {
  readonly sent: number;
  readonly written: number;
  readonly refused: number;
  /** Rows that are left out by the state of their order. */
  readonly leftOut: number;
  readonly refusals: readonly Refusal[];
  /** Of the file that is read, 0 to 1. */
  readonly share: number;
  readonly seconds: number;
  readonly isOver: boolean;
  readonly error?: string;
}

interface Line {
  readonly line: number;
  readonly record: object;
}

/** Sends a file batch by batch; rows that are refused are listed and passed over. */
export class Upload {
  private readonly opened: OpenedFile;
  private readonly plan: Plan;
  private readonly fill: ReturnType<typeof fillContinued>;
  private readonly skipFirst: boolean;
  private readonly onState: (state: UploadState) => void;
  private readonly announcer: ImportReports;
  private readonly startedAt = performance.now();
  private readonly refusals: Refusal[] = [];
  private batch: Line[] = [];
  private isFirst = true;
  private sent = 0;
  private written = 0;
  private refused = 0;
  private leftOut = 0;
  private share = 0;
  private isStopped = false;

  constructor(opened: OpenedFile, plan: Plan, skipFirst: boolean, onState: (state: UploadState) => void) {
    this.opened = opened;
    this.plan = plan;
    this.fill = fillContinued(plan.continued);
    this.skipFirst = skipFirst;
    this.onState = onState;
    // Of no secret and no meaning: another for each upload.
    const path = pathOf(['api', 'admin', 'import', `${Date.now()}-${Math.random()}`]);
    const { name, size } = opened.file;
    const about = { File: name, Kind: plan.kind, Total: size };
    this.announcer = new ImportReports((report) => api(path, 'PUT', report), about);
  }

  /** Stops sending; sent batches stay. */
  stop(): void {
    this.isStopped = true;
  }

  async run(): Promise<void> {
    try {
      for await (const { rows, bytes } of rowsOf(this.opened)) {
        this.share = bytes / Math.max(1, this.opened.file.size);
        await this.take(rows);
        if (this.isStopped) break;
      }
      await this.flush();
      this.tell({ isOver: true, ...(this.isStopped && { error: 'Stopped; what was sent stays.' }) });
    } catch (error) {
      this.tell({ isOver: true, error: (error as Error).message });
    }
  }

  private async take(rows: RowBatch['rows']): Promise<void> {
    for (const row of rows) {
      const isSkipped = this.isFirst && this.skipFirst;
      this.isFirst = false;
      if (isSkipped) continue;
      const made = 'reason' in row ? { refusal: row.reason } : recordOf(this.fill(row.cells), this.plan);
      if ('refusal' in made) this.refuse(row.line, made.refusal);
      else if ('leftOut' in made) this.leftOut++;
      else this.batch.push({ line: row.line, record: made.record });
      if (this.batch.length >= BATCH_RECORDS) await this.flush();
      if (this.isStopped) return;
    }
    this.tell({ isOver: false });
  }

  private async flush(): Promise<void> {
    const lines = this.batch;
    this.batch = [];
    if (lines.length > 0) await this.send(lines);
    this.tell({ isOver: false });
  }

  /** The service refuses a batch as a whole and names what is wrong: without those it is sent again. */
  private async send(lines: readonly Line[]): Promise<void> {
    try {
      const body = lines.map(({ record }) => record);
      const { RowAffected } = await api<{ RowAffected: number }>(`/api/${this.plan.kind}`, 'POST', body);
      this.sent += lines.length;
      this.written += RowAffected;
    } catch (error) {
      const bad =
        error instanceof ApiError && error.status === 400 ? badLines(error, lines.length) : undefined;
      if (bad === undefined || bad.size === 0) throw error;
      for (const [at, reason] of bad) this.refuse(lines[at]!.line, reason);
      const rest = lines.filter((_, at) => !bad.has(at));
      if (rest.length > 0) await this.send(rest);
    }
  }

  private refuse(line: number, reason: string): void {
    this.refused++;
    if (this.refusals.length < REFUSALS_SHOWN) this.refusals.push({ line, reason });
  }

  private tell(more: { isOver: boolean; error?: string }): void {
    const { sent, written, refused, leftOut, share } = this;
    const seconds = (performance.now() - this.startedAt) / 1000;
    this.onState({ sent, written, refused, leftOut, refusals: [...this.refusals], share, seconds, ...more });
    const counts = { Written: written, Refused: refused };
    if (more.isOver) void this.announcer.end(counts, more.error);
    else this.announcer.progress(share * this.opened.file.size, counts, performance.now());
  }
}

/** Faults by place in the batch, out of paths such as `/17/ItemId`. */
function badLines({ places }: ApiError, count: number): Map<number, string> {
  const bad = new Map<number, string>();
  for (const { path, message } of places) {
    const [, at = '', field = ''] = path.split('/');
    const number = Number(at);
    if (at !== '' && Number.isInteger(number) && number < count)
      bad.set(number, `${field} ${message}`.trim());
  }
  return bad;
}
