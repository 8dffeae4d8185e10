import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ItemView } from '../domain/admin-schemas.ts';
import { clearBit } from '../memory/bits.ts';
import { spreadEvenly } from '../memory/spread-evenly.ts';
import type { Recommendation } from '../recommend/start-recommendation.ts';
import { type DataStore, FeedbackColumns } from '../store/data-store.ts';
import { countsByTime, type Occurrences } from '../store/repeats.ts';
import type { ItemCards } from './item-cards.ts';

/** Users whose feedback on an item is looked at; of more, every so many-th. */
const USERS_READ_MAX = 2000;
/** Users read before other work gets a turn: about a millisecond. */
const SLICE_USERS = 50;
/** Slices of the curve over time. */
const TREND_SLICES = 40;

/** Feedback on one item. */
interface OnItem {
  /** What happened at one time: of a type whose repeats count there may be several of a user. */
  readonly events: { readonly timeMs: number; readonly type: number; readonly count: number }[];
  readonly users: number;
  readonly usersRead: number;
}

/** Tells of one item what it is, who gave feedback when, and what is like it. */
export class ItemViewer {
  private readonly parts: Recommendation;
  private readonly data: DataStore;
  private readonly cards: ItemCards;
  private readonly columns = new FeedbackColumns();
  private readonly occurrences: (Occurrences | undefined)[] = [];

  constructor(parts: Recommendation, data: DataStore, cards: ItemCards) {
    this.parts = parts;
    this.data = data;
    this.cards = cards;
  }

  /** @param n neighbors. @returns undefined when there is no such item */
  async view(itemId: string, n: number): Promise<ItemView | undefined> {
    const { reads, live, itemNeighbors } = this.parts;
    const itemRow = reads.itemRow(itemId);
    const item = itemRow < 0 ? undefined : reads.itemAt(itemRow);
    if (item === undefined) return undefined;
    const onItem = await this.feedback(itemRow);
    const neighbors = await itemNeighbors.of(itemRow, n, (row) => live.catalogue.isListable(row));
    return {
      Item: { ...item, Categories: [...item.Categories], Labels: [...item.Labels] },
      FeedbackCount: onItem.events.reduce((sum, { count }) => sum + count, 0),
      Users: onItem.users,
      UsersRead: onItem.usersRead,
      FeedbackTypes: this.countTypes(onItem),
      Trend: this.trend(onItem),
      Neighbors: this.cards.scored(neighbors),
      Spaces: await this.spaces(itemRow, n),
    };
  }

  /** The items most like it by each space in which it has a vector. */
  private async spaces(itemRow: number, n: number): Promise<ItemView['Spaces']> {
    const { vectors, live } = this.parts;
    const spaces: ItemView['Spaces'] = [];
    for (const name of vectors.names) {
      const vector = vectors.vectorAt(name, itemRow);
      if (vector === undefined) continue;
      const allowed = Uint32Array.from(live.catalogue.visibleBits());
      clearBit(allowed, itemRow);
      const found = await vectors.search(name, vector, n, allowed);
      spaces.push({ Name: name, Neighbors: this.cards.scored(found) });
    }
    return spaces;
  }

  private async feedback(itemRow: number): Promise<OnItem> {
    const { reads } = this.parts;
    const userRows = await this.data.getItemUsers(itemRow);
    const read = spreadEvenly(userRows, USERS_READ_MAX);
    await this.data.barrier?.pass(read);
    const { columns, occurrences } = this;
    const events: OnItem['events'] = [];
    for (const [at, userRow] of read.entries()) {
      if (at % SLICE_USERS === SLICE_USERS - 1) await nextTurn();
      reads.readPairFeedback(userRow, itemRow, columns, occurrences);
      for (const [entry, all] of occurrences.entries()) {
        const counts = all === undefined ? [[columns.timesMs[entry]!, 1] as const] : countsByTime(all);
        for (const [timeMs, count] of counts) events.push({ timeMs, type: columns.types[entry]!, count });
      }
    }
    return { events, users: userRows.length, usersRead: read.length };
  }

  private countTypes({ events }: OnItem): ItemView['FeedbackTypes'] {
    const names = this.parts.reads.feedbackTypes();
    const counts = new Map<number, number>();
    for (const { type, count } of events) counts.set(type, (counts.get(type) ?? 0) + count);
    return Array.from(counts, ([type, Count]) => ({ Name: names[type] ?? '', Count })).sort(
      (a, b) => b.Count - a.Count,
    );
  }

  /** Slices of equal length from the first feedback to the last. */
  private trend({ events }: OnItem): ItemView['Trend'] {
    if (events.length === 0) return { Times: [], All: [], Positive: [] };
    const first = events.reduce((least, { timeMs }) => Math.min(least, timeMs), Number.POSITIVE_INFINITY);
    const last = events.reduce((most, { timeMs }) => Math.max(most, timeMs), Number.NEGATIVE_INFINITY);
    const sliceMs = Math.max(1, (last - first) / (TREND_SLICES - 1));
    const Times = Array.from({ length: TREND_SLICES }, (_, at) => (first + at * sliceMs) / 1000);
    const All = new Array<number>(TREND_SLICES).fill(0);
    const Positive = new Array<number>(TREND_SLICES).fill(0);
    for (const { timeMs, type, count } of events) {
      const slice = Math.min(TREND_SLICES - 1, Math.floor((timeMs - first) / sliceMs));
      All[slice]! += count;
      if (this.parts.live.isPositive(type)) Positive[slice]! += count;
    }
    return { Times, All, Positive };
  }
}
