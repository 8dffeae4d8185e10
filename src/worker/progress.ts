import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';

/** What a fit is doing; every stage ends with done = total. */
export type FitStage =
  | 'loading feedback'
  | 'training'
  | 'predicting clicks'
  | 'weighing items'
  /** Learning what had been held out. */
  | 'finishing'
  | 'comparing items'
  | 'making lists';
export type OnProgress = (stage: FitStage, done: number, total: number) => void;

/** How far the work in the background is. */
export interface JobProgress {
  readonly stage: FitStage;
  readonly done: number;
  readonly total: number;
  /** Milliseconds that are left at the pace so far; 0 once done, undefined before anything is. */
  readonly leftMs: number | undefined;
}

/** A stage that lasts is logged this often. */
const LOG_MS = 10_000;

/** Follows the stages of a fit: for the log, and for whoever asks. */
export class ProgressTracker {
  private readonly clock: Clock;
  private readonly log: Logger;
  private stage: FitStage | undefined;
  private startedMs = 0;
  private startedAt = 0;
  private loggedMs = 0;
  private latest: JobProgress | undefined;

  constructor(clock: Clock, log: Logger) {
    this.clock = clock;
    this.log = log;
  }

  /** What is being done, undefined when nothing is. */
  get current(): JobProgress | undefined {
    return this.latest;
  }

  tell(stage: FitStage, done: number, total: number): void {
    const now = this.clock();
    if (stage !== this.stage) {
      this.stage = stage;
      this.startedMs = now;
      this.startedAt = done;
      this.loggedMs = now;
    }
    const advanced = done - this.startedAt;
    const paceMs = advanced > 0 ? (now - this.startedMs) / advanced : undefined;
    const leftMs = done >= total ? 0 : paceMs && Math.round(paceMs * (total - done));
    this.latest = { stage, done, total, leftMs };
    if (now - this.loggedMs < LOG_MS) return;
    this.loggedMs = now;
    this.log.info(this.latest, 'working');
  }

  /** The fit has ended. */
  end(): void {
    this.stage = undefined;
    this.latest = undefined;
  }
}
