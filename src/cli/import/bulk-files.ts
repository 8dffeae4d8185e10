import { statSync } from 'node:fs';
import { type FileResult, type ImportOptions, importFile } from '../../exchange/import-file.ts';
import type { BeginBulk, BulkTarget } from '../../exchange/import-targets.ts';
import type { PresetFile } from '../../exchange/known-data-sets.ts';
import type { Progress } from '../common/progress.ts';

/** Share of the time that goes into reading the files; the rest goes into storing. */
const READING_SHARE = 0.75;

/** The feedback of a run's files where it is read first and stored in the end, all of it or nothing. */
export class BulkFiles {
  private readonly begin: BeginBulk | undefined;
  private readonly progress: Progress;
  private readonly bytesTotal: number;
  private bytesBefore = 0;
  private started: BulkTarget | undefined;
  private hasBegun = false;
  /** The numbers of the files whose feedback is to be stored. */
  private readonly numbers = new Map<FileResult, number>();

  /** @param begin absent where feedback is stored batch by batch */
  constructor(begin: BeginBulk | undefined, progress: Progress, inputs: readonly PresetFile[]) {
    this.begin = begin;
    this.progress = progress;
    const files = inputs.filter(({ wishes }) => (wishes.kind ?? 'feedback') === 'feedback');
    this.bytesTotal = files.reduce((sum, { path }) => sum + sizeOf(path), 0);
  }

  /** Takes everything from the first feedback on. */
  get target(): BulkTarget | undefined {
    return this.started;
  }

  /** Reads a file of feedback; undefined for another one, and where feedback goes another way. */
  async importFile(
    options: Pick<ImportOptions, 'plan' | 'opened' | 'skipsBad' | 'onRefused' | 'onRow' | 'signal'>,
  ): Promise<FileResult | undefined> {
    if (options.plan.kind !== 'feedback') return undefined;
    if (!this.hasBegun) this.started = await this.begin?.();
    this.hasBegun = true;
    const target = this.started;
    if (target === undefined) return undefined;
    const number = target.beginFile();
    const onProgress = (bytes: number) => this.tell((this.bytesBefore + bytes) * READING_SHARE);
    // All rows are looked at: of a file with a refused one nothing is stored, which is known before anything is.
    const result = await importFile({ ...options, target, skipsBad: true, onProgress }).catch((error) => {
      target.dropFile();
      throw error;
    });
    this.bytesBefore += sizeOf(options.plan.path);
    if (result.refused > 0 && !options.skipsBad) {
      target.dropFile();
      return { ...result, kept: 0 };
    }
    this.numbers.set(result, number);
    return result;
  }

  /** Stores what was read. @returns the results with what was stored of each file */
  async finish(results: readonly FileResult[], signal: AbortSignal): Promise<FileResult[]> {
    const { started, numbers, bytesTotal } = this;
    this.started = undefined;
    if (started === undefined) return [...results];
    const onProgress = (records: number, recordsTotal: number) =>
      this.tell(bytesTotal * (READING_SHARE + ((1 - READING_SHARE) * records) / recordsTotal));
    const written = await started.finish({ signal, onProgress });
    // Users and items that came behind feedback went the same way.
    const first = results.findIndex((result) => numbers.has(result));
    return results.map((result, at) => {
      if (written === undefined)
        return at < first ? result : { ...result, kept: 0, stored: 0, isStopped: true };
      const number = numbers.get(result);
      return number === undefined ? result : { ...result, stored: written[number] ?? 0 };
    });
  }

  async discard(): Promise<void> {
    await this.started?.discard();
  }

  private tell(bytes: number): void {
    this.progress.report('reading and storing feedback, bytes', Math.floor(bytes), this.bytesTotal);
  }
}

/** Bytes of a file, 0 for a stream. */
function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
