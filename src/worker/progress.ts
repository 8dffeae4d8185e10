import type { Clock } from '../domain/clock.ts';
import type { Logger } from '../domain/log.ts';
import { type Pace, PaceMeter } from './pace.ts';

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
export interface JobProgress extends Pace {
  readonly stage: FitStage;
}

/** A stage that lasts is logged this often. */
const LOG_MS = 10_000;

/** Follows the stages of a fit: for the log, and for whoever asks. */
export class ProgressTracker {
  private readonly clock: Clock;
  private readonly log: Logger;
  private stage: FitStage | undefined;
  private readonly meter = new PaceMeter();
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
      this.loggedMs = now;
    }
    this.latest = { ...this.meter.tell(stage, done, total, now), stage };
    if (now - this.loggedMs < LOG_MS) return;
    this.loggedMs = now;
    this.log.info(this.latest, 'working');
  }

  /** The fit has ended. */
  end(): void {
    this.stage = undefined;
    this.meter.reset();
    this.latest = undefined;
  }
}
