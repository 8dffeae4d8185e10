import type { Impression } from '../domain/api-schemas.ts';
import type { Clock } from '../domain/clock.ts';
import type { GivenImpression } from '../domain/decode-bodies.ts';
import type { Feedback } from '../domain/entities.ts';
import { refuseBody } from '../domain/field-checks.ts';
import { formatTimestamp, parseTimestamp } from '../domain/rfc3339.ts';
import { mapInTurns, turns } from '../platform/concurrency/event-loop-turns.ts';
import type { ExplorationPools } from '../recommend/placements/exploration-pools.ts';
import { unpackChosen } from '../recommend/placements/list-plan.ts';
import type { PlacementCounts } from '../recommend/placements/placement-counts.ts';
import type { RecommendationTokens } from '../recommend/placements/recommendation-tokens.ts';
import type { SeenLately } from '../recommend/placements/seen-lately.ts';
import type { LocalReads, ReadBarrier } from '../store/data-store.ts';
import type { ListName, ShownLog, ShownRecord } from '../store/shown-log.ts';

/** Period in which what is too old is removed, milliseconds. */
const PRUNE_MS = 3_600_000;
/** Time in which a user's failed lists count as one, milliseconds, and users of whom that is known. */
const FAILED_MS = 3_600_000;
const FAILED_MAX = 20_000;
/** Records of a user that a walk hands out at once. */
const SLICE_RECORDS = 100;
/** Records that are noted in memory in one turn. */
const NOTED_RECORDS = 1000;

export interface ImpressionParts {
  readonly log: ShownLog;
  readonly tokens: RecommendationTokens;
  /** Counts what is stored. */
  readonly counts: PlacementCounts;
  readonly reads: Pick<LocalReads, 'itemRow' | 'itemIdAt'>;
  /** Told of what is stored. */
  readonly seenLately: Pick<SeenLately, 'note' | 'forget'>;
  readonly pools: Pick<ExplorationPools, 'note'>;
  /** Where nodes share the data: what reads are fresh after. */
  readonly barrier: ReadBarrier | undefined;
  readonly clock: Clock;
  readonly elapsedMs: Clock;
  /** Told of what no answer shows. */
  readonly onTrouble: (message: string, error: unknown) => void;
}

/** Takes in what users were shown and which feedback came of which list, and gives it back. */
export class Impressions {
  private readonly parts: ImpressionParts;
  private readonly pruning: NodeJS.Timeout;
  private readonly failedLately = new Set<string>();
  private failedHour = 0;
  /** Of the clock before the time that has passed, when old impressions were last removed. */
  private leadMs: number;

  constructor(parts: ImpressionParts) {
    this.parts = parts;
    this.leadMs = parts.clock() - parts.elapsedMs();
    this.pruning = setInterval(() => void this.prune(), PRUNE_MS).unref();
  }

  stop(): void {
    clearInterval(this.pruning);
  }

  /**
   * Stores impressions; items that are unknown are left out.
   * @returns how many are stored: those of which an item is known
   * @throws FurzeError INVALID_BODY for a token that was not given to the user; nothing is stored then
   */
  async add(impressions: readonly GivenImpression[]): Promise<number> {
    // Another node may have made the list, of items that are new.
    await this.parts.barrier?.pass();
    const nowMs = this.parts.clock();
    const records = await mapInTurns(impressions, (impression, number) =>
      this.recordOf(impression, number, nowMs),
    );
    await this.store(records);
    return records.length;
  }

  /**
   * Notes which lists feedback came of. A token that is not of the user and this service is passed over; the feedback is stored,
   * so what cannot be noted is told to `onTrouble` alone.
   */
  async credit(feedback: Iterable<Feedback>): Promise<void> {
    await this.parts.barrier?.pass();
    const { onTrouble, clock } = this.parts;
    const nowMs = clock();
    const records = await mapInTurns(feedback, (given) => this.creditOf(given, nowMs));
    await this.store(records).catch((error: unknown) => onTrouble('lists of feedback are not kept', error));
  }

  /** Notes that a user's list of an experiment could not be made: once an hour for each user, and of so many at most. */
  noteFailed(userId: string, list: ListName): void {
    const { log, onTrouble } = this.parts;
    const hour = Math.floor(list.timeMs / FAILED_MS);
    if (hour !== this.failedHour) this.failedLately.clear();
    this.failedHour = hour;
    const key = `${list.placement} ${userId}`;
    if (this.failedLately.has(key) || this.failedLately.size >= FAILED_MAX) return;
    this.failedLately.add(key);
    log
      .append([{ userId, timeMs: list.timeMs, list, itemRows: [], places: [] }])
      .catch((error: unknown) => onTrouble('it is not kept that lists failed', error));
  }

  async forget(userId: string): Promise<void> {
    const { log, seenLately } = this.parts;
    await log.forget(userId);
    seenLately.forget(userId);
  }

  async ofUser(userId: string): Promise<Impression[]> {
    const records = await this.parts.log.ofUser(userId);
    return mapInTurns(records, (record) => this.told(record));
  }

  /** All of it, by users, some at a time. */
  async *walk(): AsyncGenerator<readonly Impression[]> {
    for await (const users of this.parts.log.walk())
      for (const { records } of users)
        for (let from = 0; from < records.length; from += SLICE_RECORDS)
          yield await mapInTurns(records.slice(from, from + SLICE_RECORDS), (record) => this.told(record));
  }

  private async store(records: readonly ShownRecord[]): Promise<void> {
    if (records.length === 0) return;
    const { log, counts, seenLately, pools } = this.parts;
    await log.append(records);
    for (let from = 0; from < records.length; from += NOTED_RECORDS) {
      if (from > 0) await turns.take();
      const part = records.slice(from, from + NOTED_RECORDS);
      seenLately.note(part);
      pools.note(part);
      for (const { list, itemRows, feedbackType } of part) {
        const what = feedbackType === undefined ? 'shown' : 'feedback';
        counts.note(what, list.placement, list.variant, itemRows.length);
      }
    }
  }

  /** @returns undefined where no item is known */
  private recordOf(impression: GivenImpression, number: number, nowMs: number): ShownRecord | undefined {
    const { tokens, reads } = this.parts;
    const { UserId: userId, Recommendation, Items, Places, Timestamp } = impression;
    const list = tokens.read(Recommendation, userId);
    if (list === undefined)
      throw refuseBody(`/${number}/Recommendation`, 'is none that this user was given by this service');
    const known = Items.map((item, at) => ({ row: reads.itemRow(item), place: Places[at]! })).filter(
      ({ row }) => row >= 0,
    );
    if (known.length === 0) return undefined;
    const itemRows = known.map(({ row }) => row);
    const places = known.map(({ place }) => place);
    // Nothing is seen before it is answered, whatever the clock of a page says.
    const timeMs = Math.min(nowMs, Math.max(list.timeMs, parseTimestamp(Timestamp)));
    return { userId, timeMs, list, itemRows, places };
  }

  /** @returns undefined where the list or the item is unknown */
  private creditOf(feedback: Feedback, nowMs: number): ShownRecord | undefined {
    const { Recommendation, UserId: userId, ItemId, FeedbackType: feedbackType, Timestamp } = feedback;
    const list = this.parts.tokens.read(Recommendation ?? '', userId);
    const row = this.parts.reads.itemRow(ItemId);
    if (list === undefined || row < 0) return undefined;
    const timeMs = Math.min(nowMs, parseTimestamp(Timestamp));
    return { userId, timeMs, feedbackType, list, itemRows: [row], places: [] };
  }

  private told({ userId, timeMs, list, itemRows, places, feedbackType }: ShownRecord): Impression {
    const { reads } = this.parts;
    const known = itemRows.flatMap((row, at) => {
      const id = reads.itemIdAt(row);
      return id === undefined ? [] : [{ id, place: places[at] }];
    });
    return {
      UserId: userId,
      Placement: list.placement,
      Variant: list.variant,
      Generation: list.generation,
      ListTimestamp: formatTimestamp(list.timeMs),
      Timestamp: formatTimestamp(timeMs),
      Items: known.map(({ id }) => id),
      Places: known.flatMap(({ place }) => place ?? []),
      ...(feedbackType !== undefined && { FeedbackType: feedbackType }),
      ...chancesOf(list.plan, places, known.length),
    };
  }

  /** A clock that leaps ahead is believed the next time: what is set right within the hour takes nothing away. */
  private async prune(): Promise<void> {
    const { log, clock, elapsedMs, onTrouble } = this.parts;
    const [leadMs, beforeMs] = [clock() - elapsedMs(), this.leadMs];
    this.leadMs = leadMs;
    await log
      .prune(elapsedMs() + Math.min(leadMs, beforeMs))
      .catch((error: unknown) => onTrouble('old impressions are not removed', error));
  }
}

/** Chances with which the items stood at their places, where exploration chose some; absent otherwise and for feedback. */
function chancesOf(
  plan: string | undefined,
  places: readonly number[],
  known: number,
): { Chances?: number[] } {
  const chosen = unpackChosen(plan ?? '');
  if (chosen === undefined || places.length !== known) return {};
  return { Chances: places.map((place) => chosen[place - 1]?.chance ?? 1) };
}
