import type { Clock } from '../../domain/clock.ts';
import { withinTime } from '../../platform/concurrency/unless-aborted.ts';
import type { ShownLog, ShownRecord } from '../../store/shown-log.ts';

/** Impressions of a user that are looked at, the latest. */
const RECORDS_MAX = 200;
/** Weight of all that is kept: a row of an item is 1, some 16 bytes with what is around it. */
const WEIGHT_MAX = 2_000_000;
/** Weight of a record's other fields. */
const RECORD_ROWS = 20;
/** Time after which it is read again what other nodes may have added, milliseconds. */
const FRESH_MS = 30_000;
/** Longest wait of an answer for a log that does not answer, and time for which nobody waits for it after that, milliseconds. */
const WAIT_MS_MAX = 250;
const PAUSE_MS = 5000;

interface Known {
  records: ShownRecord[];
  readonly readMs: number;
  weight: number;
}

interface Reading {
  readonly done: Promise<void>;
  /** Records that are stored while it is read and may not be in it. */
  readonly meanwhile: ShownRecord[];
}

/** Latest impressions of the users who were asked for last, out of the log and in bounded memory. */
export class SeenLately {
  private readonly log: Pick<ShownLog, 'ofUser'> | undefined;
  private readonly clock: Clock;
  /** The users who were read last stand last. */
  private readonly byUser = new Map<string, Known>();
  private readonly reading = new Map<string, Reading>();
  private weight = 0;
  private pauseBeganMs = Number.NEGATIVE_INFINITY;

  constructor(log: Pick<ShownLog, 'ofUser'> | undefined, clock: Clock) {
    this.log = log;
    this.clock = clock;
  }

  /** The latest records of a user by time; what was known before, or none, where the log does not answer in time. */
  async of(userId: string): Promise<readonly ShownRecord[]> {
    const known = this.byUser.get(userId);
    const nowMs = this.clock();
    const isFresh = known !== undefined && Math.abs(nowMs - known.readMs) < FRESH_MS;
    const isPause = Math.abs(nowMs - this.pauseBeganMs) < PAUSE_MS;
    if (this.log === undefined || isFresh || isPause) return known?.records ?? [];
    if (!this.reading.has(userId)) this.read(userId, this.log, nowMs);
    await this.reading.get(userId)!.done;
    return this.byUser.get(userId)?.records ?? [];
  }

  /** Takes in what was stored just now. */
  note(records: readonly ShownRecord[]): void {
    for (const record of records) {
      this.reading.get(record.userId)?.meanwhile.push(record);
      const known = this.byUser.get(record.userId);
      if (known === undefined) continue;
      known.records.push(record);
      if (known.records.length > 2 * RECORDS_MAX) known.records = known.records.slice(-RECORDS_MAX);
      const added = RECORD_ROWS + record.itemRows.length;
      known.weight += added;
      this.weight += added;
    }
    this.makeRoom();
  }

  forget(userId: string): void {
    this.reading.delete(userId);
    this.drop(userId);
  }

  private read(userId: string, log: Pick<ShownLog, 'ofUser'>, nowMs: number): void {
    const meanwhile: ShownRecord[] = [];
    const done = withinTime(log.ofUser(userId, RECORDS_MAX), WAIT_MS_MAX).then(
      (read) => {
        if (this.reading.get(userId) !== reading) return;
        const isRead = ({ timeMs, list }: ShownRecord) =>
          read.some((each) => each.timeMs === timeMs && each.list.timeMs === list.timeMs);
        this.keep(userId, [...read, ...meanwhile.filter((record) => !isRead(record))], nowMs);
      },
      () => {
        this.pauseBeganMs = this.clock();
      },
    );
    const reading = { done: done.finally(() => this.reading.delete(userId)), meanwhile };
    this.reading.set(userId, reading);
  }

  private keep(userId: string, records: ShownRecord[], readMs: number): void {
    this.drop(userId);
    const weight = records.reduce((sum, { itemRows }) => sum + RECORD_ROWS + itemRows.length, RECORD_ROWS);
    this.byUser.set(userId, { records, readMs, weight });
    this.weight += weight;
    this.makeRoom();
  }

  private makeRoom(): void {
    for (const oldest of this.byUser.keys()) {
      if (this.weight <= WEIGHT_MAX) break;
      this.drop(oldest);
    }
  }

  private drop(userId: string): void {
    this.weight -= this.byUser.get(userId)?.weight ?? 0;
    this.byUser.delete(userId);
  }
}
