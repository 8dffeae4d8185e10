/** Progress and speed of a stage. */
export interface Pace {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
  /** Steps a second since the stage began; undefined before any is done. */
  readonly perSecond: number | undefined;
  /** Milliseconds that are left at the pace so far; 0 once done, undefined before anything is. */
  readonly leftMs: number | undefined;
}

/** Measures the pace of one stage after the other. */
export class PaceMeter {
  private stage: string | undefined;
  private startedMs = 0;
  private startedAt = 0;

  /** @param nowMs milliseconds that have passed */
  tell(stage: string, done: number, total: number, nowMs: number): Pace {
    if (stage !== this.stage) {
      this.stage = stage;
      this.startedMs = nowMs;
      this.startedAt = done;
    }
    const advanced = done - this.startedAt;
    const tookMs = nowMs - this.startedMs;
    const perSecond = advanced > 0 && tookMs > 0 ? (advanced / tookMs) * 1000 : undefined;
    const leftMs = done >= total ? 0 : perSecond && Math.round((1000 / perSecond) * (total - done));
    return { stage, done, total, perSecond, leftMs };
  }
}
