import type { Logger } from '../domain/log.ts';
import type { Cluster } from '../store/cluster.ts';
import type { FitSchedule } from './fit-schedule.ts';

/** Has a node do its part in a cluster: it learns while it leads, and takes over what another leader publishes. */
export class GenerationFollower {
  private readonly cluster: Cluster;
  private readonly fits: FitSchedule;
  private readonly log: Logger;
  private epoch: number | undefined;
  private fitsAsked: number;
  /** The published generation that is being taken over, or could not be. */
  private seen = 0;

  constructor(cluster: Cluster, fits: FitSchedule, log: Logger) {
    this.cluster = cluster;
    this.fits = fits;
    this.log = log;
    this.fitsAsked = cluster.fitsAsked;
  }

  start(): void {
    this.cluster.onTurn(() => this.turn());
    this.turn();
  }

  private turn(): void {
    const { cluster, fits, log } = this;
    const { epoch, published, fitsAsked } = cluster;
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
    if (fitsAsked !== this.fitsAsked) {
      this.fitsAsked = fitsAsked;
      // A failure stands in the task.
      if (epoch !== undefined) fits.run().catch(() => {});
    }
  }

  private takeOver(published: number): void {
    this.seen = published;
    this.fits
      .takeOver(published)
      .then((isServed) => {
        if (!isServed)
          this.log.warn(
            { generation: published },
            'the published generation cannot be used; the last one stays',
          );
      })
      .catch((error: unknown) => {
        this.log.error({ err: error }, 'the published generation could not be taken over; trying again');
        this.seen = 0;
      });
  }
}
