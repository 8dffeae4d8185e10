import type { ImportReport } from '../domain/admin-schemas.ts';

/** A service is told how far an import is at most this often, milliseconds. */
const TELL_EVERY_MS = 1000;

/** Tells a running service how an import gets on, so that it stands among the tasks. Used by the command line and the dashboard. */
export class ImportReports {
  private readonly send: (report: ImportReport) => Promise<unknown>;
  private readonly about: Pick<ImportReport, 'File' | 'Kind' | 'Total'>;
  private lastMs = Number.NEGATIVE_INFINITY;
  private sending: Promise<unknown> = Promise.resolve();

  /** @param send hands a report to the service; what comes of it changes nothing for the import */
  constructor(
    send: (report: ImportReport) => Promise<unknown>,
    about: Pick<ImportReport, 'File' | 'Kind' | 'Total'>,
  ) {
    this.send = send;
    this.about = { ...about, File: about.File.slice(-255) || 'standard input' };
  }

  /** Told now and then. @param done bytes of the file that are behind it @param nowMs of any clock */
  progress(done: number, counts: Pick<ImportReport, 'Written' | 'Refused'>, nowMs: number): void {
    if (nowMs - this.lastMs < TELL_EVERY_MS) return;
    this.lastMs = nowMs;
    this.tell({ ...this.about, ...counts, State: 'running', Done: done });
  }

  /** Told at the end. @param error why it failed; undefined when all went well */
  end(counts: Pick<ImportReport, 'Written' | 'Refused'>, error: string | undefined): Promise<unknown> {
    const State = error === undefined ? 'done' : 'failed';
    const report = { ...this.about, ...counts, State, Done: this.about.Total } as const;
    return this.tell(error === undefined ? report : { ...report, Error: error.slice(0, 1000) });
  }

  /** One after the other: the last word is to be the last that arrives. */
  private tell(report: ImportReport): Promise<unknown> {
    this.sending = this.sending.then(() => this.send(report)).catch(() => {});
    return this.sending;
  }
}
