import Papa from 'papaparse';
import { Announcer } from '../../exchange/announcer.ts';
import { type Plan, type Row, recordOf } from '../../exchange/records.ts';
import { ApiError, api, pathOf } from '../api.ts';

const BATCH_RECORDS = 5000;
const CHUNK_BYTES = 1 << 20;
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

/** A file as text: what gzip packed is unpacked. @throws Error when it is damaged */
export async function unpack(file: File): Promise<File> {
  if (!/\.gz$/i.test(file.name)) return file;
  const unpacked = new Response(file.stream().pipeThrough(new DecompressionStream('gzip')));
  const name = file.name.replace(/\.gz$/i, '');
  const blob = await unpacked.blob().catch(() => {
    throw new Error(`${file.name} cannot be unpacked: it is damaged, or not packed with gzip.`);
  });
  return new File([blob], name, { lastModified: file.lastModified });
}

/** The first rows of a file, as they are. */
export function preview(file: File, rows: number): Promise<string[][]> {
  return new Promise((resolve, reject) => {
    Papa.parse<string[]>(file, {
      preview: rows,
      skipEmptyLines: true,
      complete: ({ data }) => resolve(data),
      error: reject,
    });
  });
}

/** Sends a file batch by batch; rows that are refused are listed and passed over. */
export class Upload {
  private readonly file: File;
  private readonly plan: Plan;
  private readonly skipFirst: boolean;
  private readonly onState: (state: UploadState) => void;
  private readonly announcer: Announcer;
  private readonly startedAt = performance.now();
  private readonly refusals: Refusal[] = [];
  private batch: Line[] = [];
  private line = 0;
  private sent = 0;
  private written = 0;
  private refused = 0;
  private share = 0;
  private isStopped = false;

  constructor(file: File, plan: Plan, skipFirst: boolean, onState: (state: UploadState) => void) {
    this.file = file;
    this.plan = plan;
    this.skipFirst = skipFirst;
    this.onState = onState;
    // Of no secret and no meaning: another for each upload.
    const path = pathOf(['api', 'admin', 'import', `${Date.now()}-${Math.random()}`]);
    const about = { File: file.name, Kind: plan.kind, Total: file.size };
    this.announcer = new Announcer((report) => api(path, 'PUT', report), about);
  }

  /** What was sent stays; the rest is not sent. */
  stop(): void {
    this.isStopped = true;
  }

  async run(): Promise<void> {
    try {
      await this.parse();
      await this.flush();
      this.tell({ isOver: true, ...(this.isStopped && { error: 'Stopped; what was sent stays.' }) });
    } catch (error) {
      this.tell({ isOver: true, error: (error as Error).message });
    }
  }

  private parse(): Promise<void> {
    return new Promise((resolve, reject) => {
      Papa.parse<string[]>(this.file, {
        skipEmptyLines: true,
        chunkSize: CHUNK_BYTES,
        chunk: ({ data, meta }, parser) => {
          parser.pause();
          this.share = meta.cursor / Math.max(1, this.file.size);
          this.take(data).then(
            () => (this.isStopped ? parser.abort() : parser.resume()),
            (error: Error) => {
              parser.abort();
              reject(error);
            },
          );
        },
        complete: () => resolve(),
        error: reject,
      });
    });
  }

  private async take(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      const line = ++this.line;
      if (line === 1 && this.skipFirst) continue;
      const made = recordOf(row, this.plan);
      if ('refusal' in made) this.refuse(line, made.refusal);
      else this.batch.push({ line, record: made.record });
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
    const { sent, written, refused, share } = this;
    const seconds = (performance.now() - this.startedAt) / 1000;
    this.onState({ sent, written, refused, refusals: [...this.refusals], share, seconds, ...more });
    const counts = { Written: written, Refused: refused };
    if (more.isOver) void this.announcer.end(counts, more.error);
    else this.announcer.progress(share * this.file.size, counts, performance.now());
  }
}

/** What is wrong by place in the batch, out of paths such as `/17/ItemId`. */
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
