import type { Clock } from '../../../domain/clock.ts';
import type { LocalReads } from '../../../store/data-store.ts';
import type { Ranking } from '../../models/feature-names.ts';
import type { GenerationSlot } from '../../models/generation-slot.ts';
import { TrendingItems } from '../../popularity/trending-items.ts';
import { KeptItemScores } from '../../ranking/kept-item-scores.ts';
import type { ListInputs } from '../../sources/list-inputs.ts';
import type { InMemoryState } from '../../state/in-memory-state.ts';
import { SPARE_FACTOR, topLatest, topPopular } from '../../state/top-items.ts';
import type { ItemVectors } from '../../vectors/item-vectors.ts';

/** The most popular items are looked for again after this time, and scores of items worked out again. */
const POPULAR_MS = 1000;
/** Scores of items that are kept, by kind of user. */
const KEPT_PLACES = 2 ** 14;

/** The first items of a popularity scale are looked for again after this time. */
const TRENDING_MS = 1000;

interface MainThreadParts {
  readonly live: InMemoryState;
  readonly generations: GenerationSlot;
  readonly reads: LocalReads;
  readonly clock: Clock;
  readonly cacheSize: number;
  /** The items of the user's last list, as far as they may be considered. */
  readonly lastRows: (userRow: number) => ArrayLike<number>;
  readonly vectors?: Pick<ItemVectors, 'reader'>;
}

/** The inputs of lists on the main thread: everything as of the last commit. */
export function mainThreadInputs(parts: MainThreadParts): ListInputs {
  const { live, generations, reads, clock, cacheSize, lastRows } = parts;
  let popularRows: readonly number[] = [];
  let popularMs = Number.NEGATIVE_INFINITY;
  const { catalogue, popularity } = live;
  const trends = new TrendingItems(popularity, (row) => catalogue.isListable(row));
  const trending: { rows: readonly number[]; madeMs: number }[] = [];
  const scores = scoresOfASecond(generations, clock);
  // What was found before knows of little.
  void live.settled.then(() => {
    popularMs = Number.NEGATIVE_INFINITY;
    scores.forget();
    trending.length = 0;
  });
  return {
    get generation() {
      return generations.current;
    },
    get coldItems() {
      return live.coldItems.items;
    },
    get vectors() {
      return parts.vectors?.reader;
    },
    labels: catalogue,
    popularity,
    get kept() {
      return scores.kept();
    },
    recentLikes: popularity.recent,
    isListable: (row) => catalogue.isListable(row),
    listableBits: () => catalogue.visibleBits(),
    timestampMsAt: (row) => live.sinceMsAt(row),
    trendingRows(scale) {
      const now = clock();
      const known = trending[scale];
      if (known !== undefined && Math.abs(now - known.madeMs) < TRENDING_MS) return known.rows;
      const rows = trends.first(scale, cacheSize * SPARE_FACTOR);
      trending[scale] = { rows, madeMs: now };
      return rows;
    },
    latestRows: () => topLatest(live, cacheSize),
    popularRows() {
      const now = clock();
      if (Math.abs(now - popularMs) >= POPULAR_MS) {
        popularRows = topPopular(live, cacheSize);
        popularMs = now;
      }
      return popularRows;
    },
    // Finding users like this one takes a worker; what it found for the last list is still to be considered.
    userBased: ({ userRow }) => lastRows(userRow),
    labelsOf: (userRow) => reads.userAt(userRow)?.Labels ?? [],
  };
}

/** Scores of items, by the ranking that serves, that are worked out again after a time. */
function scoresOfASecond(generations: GenerationSlot, clock: Clock) {
  const scores = new KeptItemScores(KEPT_PLACES);
  let madeMs = Number.NEGATIVE_INFINITY;
  let madeBy: Ranking | undefined;
  return {
    kept(): KeptItemScores {
      const now = clock();
      const ranking = generations.current.ranking;
      if (Math.abs(now - madeMs) < POPULAR_MS && madeBy === ranking) return scores;
      scores.clear();
      madeMs = now;
      madeBy = ranking;
      return scores;
    },
    forget(): void {
      madeMs = Number.NEGATIVE_INFINITY;
    },
  };
}
