import type { Clock } from '../../domain/clock.ts';
import { filled, sharedU32 } from '../../memory/shared-arrays.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { GenerationSlot } from '../../recommend/models/generation-slot.ts';
import { sharePopularity } from '../../recommend/popularity/popularity-counts.ts';
import type { InMemoryState } from '../../recommend/state/in-memory-state.ts';
import { topLatest, topPopular, topTrendingInSteps } from '../../recommend/state/top-items.ts';
import type { ItemVectors } from '../../recommend/vectors/item-vectors.ts';
import type { ListPlan, PlacedGeneration } from '../../threads/messages.ts';

/** Records that wait to be counted, taken between two pauses. */
const COUNTED_RECORDS = 512;

/** The part that is the same for all lists of all passes. */
type Settled =
  | 'dataPath'
  | 'cachePath'
  | 'sharedLists'
  | 'youngMs'
  | 'positiveTypes'
  | 'positiveTtlMs'
  | 'userNeighborType'
  | 'settings'
  | 'versioned';

export interface ListPlannerOptions extends Pick<ListPlan, Settled> {
  readonly clock: Clock;
  /** The generation that serves, with its ranking as it has moved since its fit. */
  readonly generations?: Pick<GenerationSlot, 'current'>;
  /** Absent where there are none. */
  readonly vectors?: Pick<ItemVectors, 'settled' | 'listPlace'>;
}

/** Copies to shared memory what workers make lists of: what may be listed, popularity, the newest items, the models. */
export class ListPlanner {
  private readonly options: ListPlannerOptions;
  private plans = 0;

  constructor(options: ListPlannerOptions) {
    this.options = options;
  }

  /** The inputs of lists with this generation, as of now: many arrays as long as the catalogue, some a turn. */
  async plan(generation: PlacedGeneration, live: InMemoryState): Promise<ListPlan> {
    await this.options.vectors?.settled;
    return inTurns(this.planInSteps(generation, live));
  }

  private asServed(generation: PlacedGeneration): PlacedGeneration {
    const { number, ranking } = this.options.generations?.current ?? {};
    return number === generation.number
      ? { ...generation, ranking: ranking?.learned ?? ranking }
      : generation;
  }

  private *planInSteps(generation: PlacedGeneration, live: InMemoryState): Generator<undefined, ListPlan> {
    const { dataPath, cachePath, sharedLists, youngMs, positiveTypes, positiveTtlMs } = this.options;
    const { userNeighborType, settings, versioned } = this.options;
    const { catalogue, popularity, coldItems } = live;
    // What comes while this is planned may be missing.
    const knowsMs = this.options.clock();
    while (popularity.drain(COUNTED_RECORDS)) yield;
    const listable = yield* catalogue.listableBits();
    yield;
    const timesMs = yield* live.sharedSince();
    yield;
    const shared = yield* sharePopularity(popularity, catalogue.rowCount);
    yield;
    const { userRows, itemRows, seconds } = popularity.recent.save();
    const recentLikes = { userRows: share(userRows), itemRows: share(itemRows), seconds: share(seconds) };
    const trendingRows: Uint32Array<SharedArrayBuffer>[] = [];
    for (const counts of shared.scales) {
      yield;
      const isListable = (row: number) => catalogue.isListable(row);
      trendingRows.push(share(yield* topTrendingInSteps(counts, settings.cacheSize, isListable)));
    }
    yield;
    const labels = yield* catalogue.sharedLabels();
    yield;
    const latestRows = share(topLatest(live, settings.cacheSize));
    yield;
    const popularRows = share(topPopular(live, settings.cacheSize));
    yield;
    return {
      id: ++this.plans,
      knowsMs,
      dataPath,
      cachePath,
      sharedLists,
      youngMs,
      positiveTypes,
      positiveTtlMs,
      userNeighborType,
      settings,
      versioned,
      generation: this.asServed(generation),
      listable,
      popularity: shared,
      recentLikes,
      latestRows,
      popularRows,
      trendingRows,
      timesMs,
      coldItems: coldItems.items,
      labels,
      vectors: this.options.vectors?.listPlace,
    };
  }
}

function share(rows: ArrayLike<number>): Uint32Array<SharedArrayBuffer> {
  return filled(sharedU32(rows.length), rows);
}
