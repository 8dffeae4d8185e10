import { messageOf } from '../../domain/furze-error.ts';
import type { Logger } from '../../platform/log/log.ts';
import type { Cluster } from '../../store/cluster.ts';
import type { FitSchedule } from './fit-schedule.ts';

/** Pause before a generation that could not be read is read again, milliseconds; it doubles with each try. */
const RETRY_MS = 1000;
const RETRY_MS_MAX = 60_000;

/** Has a node do its part in a cluster: it learns while it leads, takes over what another leader publishes, and has its share of passes. */
export class GenerationFollower {
  private readonly cluster: Cluster;
  private readonly fits: Pick<FitSchedule, 'takeOver' | 'lead' | 'yieldLead' | 'run' | 'joinPass'>;
  private readonly log: Logger;
  private epoch: number | undefined;
  private fitsAsked: number;
  private pass = 0;
  /** The published generation that is being taken over, or could not be, and why, as the log has it. */
  private seen = 0;
  private told = '';
  private retryMs = RETRY_MS;
  private retry: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(cluster: Cluster, fits: GenerationFollower['fits'], log: Logger) {
    this.cluster = cluster;
    this.fits = fits;
    this.log = log;
    this.fitsAsked = cluster.fitsAsked;
  }

  start(): void {
    if (this.isStopped) return;
    this.cluster.onTurn(() => this.turn());
    this.turn();
  }

  /** Takes over nothing more. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.retry);
  }

  private turn(): void {
    if (this.isStopped) return;
    const { cluster, fits, log } = this;
    const { epoch, published, fitsAsked, pass } = cluster;
    if (epoch !== this.epoch) {
      if (this.epoch !== undefined) {
        log.warn({ epoch: this.epoch }, 'this node leads no more');
        fits.yieldLead();
      }
      if (epoch !== undefined) {
        log.info({ epoch }, 'this node leads: it learns for all');
        fits.lead();
      }
      this.epoch = epoch;
    }
    if (published > 0 && published !== this.seen) this.takeOver(published);
    // One of a generation that is being taken over is joined after that.
    if (pass !== this.pass && pass > 0) fits.joinPass();
    this.pass = pass;
    if (fitsAsked !== this.fitsAsked) {
      this.fitsAsked = fitsAsked;
      // A failure stands in the task.
      if (epoch !== undefined) fits.run().catch(() => {});
    }
  }

  private takeOver(published: number): void {
    this.seen = published;
    clearTimeout(this.retry);
    this.fits
      .takeOver(published)
      .then((isServed) => {
        this.retryMs = RETRY_MS;
        this.told = '';
        if (!isServed)
          this.log.warn(
            { generation: published },
            'the published generation cannot be used; the last one stays',
          );
      })
      .catch((error: unknown) => {
        if (this.isStopped) return;
        if (messageOf(error) !== this.told)
          this.log.error({ err: error }, 'the published generation could not be taken over; trying again');
        this.told = messageOf(error);
        // A newer one that is published meanwhile is being taken over already.
        if (this.seen !== published) return;
        this.retry = setTimeout(() => this.takeOver(published), this.retryMs);
        this.retry.unref();
        this.retryMs = Math.min(RETRY_MS_MAX, this.retryMs * 2);
      });
  }
}
