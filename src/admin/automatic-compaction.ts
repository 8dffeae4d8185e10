import type { TaskList } from '../background/tasks/task-list.ts';
import type { Clock } from '../domain/clock.ts';
import { FurzeError } from '../domain/furze-error.ts';
import type { Logger } from '../platform/log/log.ts';
import type { Compacted, DataStore } from '../store/data-store.ts';

/** First look at the free space after the start, and pause between two, milliseconds. */
const FIRST_LOOK_MS = 60_000;
const LOOK_EVERY_MS = 600_000;
/** After a compaction by itself that failed, the next is not tried before this. */
const RETRY_MS = 3_600_000;
/** Less than this is not worth a compaction, whatever its share. */
const FREE_BYTES_MIN = 64 * 2 ** 20;

export interface CompactionOptions {
  readonly data: DataStore;
  readonly tasks: TaskList;
  /** Share of the store's file that must be free for it to be compacted; 0 for never by itself. */
  readonly freeShare: number;
  /** Milliseconds that have passed. */
  readonly elapsedMs: Clock;
  readonly log: Logger;
  readonly freeBytesMin?: number;
}

/** The compaction of the data store: asked for, or by itself where much of the file is free. */
export class AutomaticCompaction {
  private readonly options: CompactionOptions;
  private timer: NodeJS.Timeout | undefined;
  private compacting: Promise<Compacted> | undefined;
  private notBeforeMs = Number.NEGATIVE_INFINITY;

  constructor(options: CompactionOptions) {
    this.options = options;
  }

  /** Looks at the free space from now on. */
  start(): void {
    if (this.options.freeShare > 0 && this.options.data.compact !== undefined) this.lookLater(FIRST_LOOK_MS);
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /**
   * Compacts the data store now; a compaction that runs is joined. It stands among the tasks.
   * @throws FurzeError BAD_REQUEST where the engine sees to that by itself
   * @throws OperatorError when it does not come to its end
   */
  compact(): Promise<Compacted> {
    const compact = this.options.data.compact?.bind(this.options.data);
    if (compact === undefined)
      throw new FurzeError('BAD_REQUEST', 'The engine of the data store sees to its free space by itself.');
    this.compacting ??= this.runCompaction(compact).finally(() => {
      this.compacting = undefined;
    });
    return this.compacting;
  }

  /** Compacts the store when enough of its file is free. */
  async look(): Promise<void> {
    const { data, freeShare, freeBytesMin = FREE_BYTES_MIN, elapsedMs, log } = this.options;
    if (elapsedMs() < this.notBeforeMs) return;
    const [{ bytes }, tables] = await Promise.all([data.getStats(), data.getTables()]);
    const freeBytes = bytes - tables.reduce((sum, table) => sum + table.bytes, 0);
    if (freeBytes < freeBytesMin || freeBytes < bytes * freeShare) return;
    try {
      const done = await this.compact();
      log.info({ ...done }, 'the data store was rewritten without its free space');
    } catch (error) {
      this.notBeforeMs = elapsedMs() + RETRY_MS;
      log.warn({ freeBytes }, `much of the data store is free. ${(error as Error).message}`);
    }
  }

  private lookLater(ms: number): void {
    this.timer = setTimeout(() => {
      this.look()
        .catch((error) => this.options.log.warn({ err: error }, 'the free space could not be looked at'))
        .finally(() => {
          if (this.timer !== undefined) this.lookLater(LOOK_EVERY_MS);
        });
    }, ms);
    this.timer.unref();
  }

  private async runCompaction(compact: NonNullable<DataStore['compact']>): Promise<Compacted> {
    const task = this.options.tasks.begin('compaction');
    try {
      const result = await compact((done, total) => task.tell('Rewriting entries', done, total));
      task.done({ ...result });
      return result;
    } catch (error) {
      task.failed(error);
      throw error;
    }
  }
}
