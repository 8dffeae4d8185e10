import type { Kind } from '../../exchange/guess-columns.ts';
import type { FilePlan } from '../../exchange/import-plan.ts';
import { ImportReports } from '../../exchange/import-reports.ts';
import { type MadeRow, madeRows } from '../../exchange/made-rows.ts';
import { ApiError, api, pathOf } from '../api.ts';
import { type OpenedFile, textOf } from './read-file.ts';

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
  /** Rows that are left out by the state of their order, or as those of guests. */
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

/** Sends a file batch by batch, once for each plan; rows that are refused are listed and passed over. */
export class Upload {
  private readonly opened: OpenedFile;
  private readonly plans: readonly FilePlan[];
  private readonly onState: (state: UploadState) => void;
  private readonly startedAt = performance.now();
  private readonly refusals: Refusal[] = [];
  private batch: Line[] = [];
  /** Records of a batch: fewer once the service, or what stands before it, took no more at once. */
  private most = BATCH_RECORDS;
  private sent = 0;
  private written = 0;
  private refused = 0;
  private leftOut = 0;
  private share = 0;
  private isStopped = false;

  constructor(opened: OpenedFile, plans: readonly FilePlan[], onState: (state: UploadState) => void) {
    this.opened = opened;
    this.plans = plans;
    this.onState = onState;
  }

  /** Stops sending; sent batches stay. */
  stop(): void {
    this.isStopped = true;
  }

  async run(): Promise<void> {
    let error: string | undefined;
    for (const [at, plan] of this.plans.entries()) {
      const announcer = this.announcerOf(plan.kind);
      const before = { written: this.written, refused: this.refused };
      const counts = () => ({
        Written: this.written - before.written,
        Refused: this.refused - before.refused,
      });
      error = await this.sendAll(plan, (share) => {
        this.share = (at + share) / this.plans.length;
        announcer.progress(share * this.opened.file.size, counts(), performance.now());
      });
      void announcer.end(counts(), error);
      if (error !== undefined) break;
    }
    this.tell({ isOver: true, ...(error !== undefined && { error }) });
  }

  private announcerOf(kind: Kind): ImportReports {
    // Of no secret and no meaning: another for each upload.
    const path = pathOf(['api', 'admin', 'import', `${Date.now()}-${Math.random()}`]);
    const { name, size } = this.opened.file;
    return new ImportReports((report) => api(path, 'PUT', report), { File: name, Kind: kind, Total: size });
  }

  /** @returns why it ended before the end */
  private async sendAll(plan: FilePlan, progress: (share: number) => void): Promise<string | undefined> {
    let bytes = 0;
    const text = textOf(this.opened, (read) => {
      bytes = read;
    });
    try {
      for await (const rows of madeRows(plan, text)) {
        progress(bytes / Math.max(1, this.opened.file.size));
        await this.take(rows, plan.kind);
        if (this.isStopped) break;
      }
      await this.flush(plan.kind);
      return this.isStopped ? 'Stopped; what was sent stays.' : undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  private async take(rows: readonly MadeRow[], kind: Kind): Promise<void> {
    for (const { line, made } of rows) {
      if ('refusal' in made) this.refuse(line, made.refusal);
      // What items are taken out of is counted as feedback.
      else if ('leftOut' in made) this.leftOut += kind === 'items' ? 0 : 1;
      else this.batch.push({ line, record: made.record });
      if (this.batch.length >= this.most) await this.flush(kind);
      if (this.isStopped) return;
    }
    this.tell({ isOver: false });
  }

  private async flush(kind: Kind): Promise<void> {
    const lines = this.batch;
    this.batch = [];
    if (lines.length > 0) await this.send(lines, kind);
    this.tell({ isOver: false });
  }

  /** The service refuses a batch as a whole and names what is wrong: without those it is sent again. */
  private async send(lines: readonly Line[], kind: Kind): Promise<void> {
    try {
      const body = lines.map(({ record }) => record);
      const { RowAffected } = await api<{ RowAffected: number }>(`/api/${kind}`, 'POST', body);
      this.sent += lines.length;
      this.written += RowAffected;
    } catch (error) {
      if (error instanceof ApiError && error.status === 413 && lines.length > 1) {
        // The first half may have to be halved again.
        const half = Math.ceil(lines.length / 2);
        this.most = half;
        await this.send(lines.slice(0, half), kind);
        return this.send(lines.slice(half), kind);
      }
      const bad =
        error instanceof ApiError && error.status === 400 ? badLines(error, lines.length) : undefined;
      if (bad === undefined || bad.size === 0) throw error;
      for (const [at, reason] of bad) this.refuse(lines[at]!.line, reason);
      const rest = lines.filter((_, at) => !bad.has(at));
      if (rest.length > 0) await this.send(rest, kind);
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
