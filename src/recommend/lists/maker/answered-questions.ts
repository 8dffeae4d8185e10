import { getOrPut } from '../../../domain/get-or-put.ts';
import { spreadEvenly } from '../../../memory/spread-evenly.ts';
import type { SavedStates } from '../../../store/cache-store.ts';
import { type ChangeSet, FeedbackColumns, type LocalReads } from '../../../store/data-store.ts';
import type { TypeTest } from '../../history/counts-as-positive.ts';
import type { History } from '../../history/history.ts';
import { type Ranking, sumsOf, withDiscovery } from '../../models/feature-names.ts';
import type { GenerationSlot } from '../../models/generation-slot.ts';
import type { SumName } from '../../models/like-sums.ts';
import { POPULARITY_SCALES } from '../../popularity/popularity-scales.ts';
import { rankingFeatures } from '../../ranking/compute-features.ts';
import {
  KNOWN_QUESTIONS,
  MovingWeights,
  type SavedWeights,
  UNTAUGHT_QUESTIONS,
} from '../../ranking/moving-weights.ts';
import type { ListInputs } from '../../sources/list-inputs.ts';
import type { ListSettings } from '../../sources/list-settings.ts';
import { CandidateFinder, type CandidateScratch } from './candidate-finder.ts';

/** Name of the state that tells how far the ranking has moved, and how often it is written at most, milliseconds. */
const MOVED_STATE = 'ranking-moved';
const SAVED_MS = 30_000;

/** Popularity on all scales comes up, and of each recommender so much: what stands among ten is all that matters. */
const SCALES = POPULARITY_SCALES.map((_, scale) => scale);
const PROPOSALS = 30;
/** Likes of a commit that are asked about at most: of large ones some. */
const ASKED_MAX = 20;
/**
 * Questions a second on the mean, each of about a millisecond, and at once after a quiet time. Counted and not timed,
 * so that the same likes teach the same on any machine. With so many items one counts for two.
 */
const ASKED_A_SECOND = 25;
const ASKED_AT_ONCE = 2000;
const ITEMS_FOR_TWO = 20_000;
/** So many likes are known again at least, and twice as many at most. */
const KNOWN_AGAIN = 2000;
/** Likes of so long before the newest ones tell nothing of now, milliseconds. */
const LATE_MS = 3_600_000;
/** Age from which on an item can have stood in lists, milliseconds; they take in what is new within that time. */
const SHOWN_AFTER_MS = 60_000;
/** Lists go by new weights after so long at the earliest, milliseconds: what is kept of items' scores goes with the old ones. */
const TAKEN_UP_MS = 1000;

export interface AnsweredQuestionsParts {
  readonly settings: ListSettings;
  readonly inputs: ListInputs;
  readonly generations: GenerationSlot;
  readonly reads: Pick<LocalReads, 'readPairFeedback'>;
  readonly states: SavedStates;
  readonly isPositive: TypeTest;
  /** A history of its own. */
  readonly history: History;
  /** Of lists that are made on the same thread. */
  readonly scratch: CandidateScratch;
  readonly clock: () => number;
  /** Items of the catalogue. */
  readonly itemCount: () => number;
  /** All positive feedback on each popularity scale, in records of now. */
  readonly totals: () => readonly number[];
}

/** A ranking that moves. */
interface Moving {
  /** Number of the generation. */
  readonly generation: number;
  readonly fitted: Ranking;
  /** Sums over likes that any kind of user is ranked by: the others count nothing, and need not be worked out. */
  readonly sums: readonly SumName[];
  readonly weights: MovingWeights;
}

/** Types of feedback by item row. */
type NewTypes = Map<number, Set<number>>;

/** Kept over a restart. */
interface MovedState {
  readonly generation: number;
  readonly weights: SavedWeights;
}

/**
 * Each like that comes is a question that was just answered: what should have stood in that user's list? The ranking that
 * serves moves with it at once, as far as questions are left. With each generation it begins anew. A like of what the user
 * had liked before is no answer: no list was to hold it, and the models have learned from it already. One that is taken back
 * and given again is no other answer: a button pressed often would teach more than a hundred people. Neither is one of an
 * item that came with it: it has always just come, which would teach that whatever has just come is liked.
 */
export class AnsweredQuestions {
  private readonly parts: AnsweredQuestionsParts;
  private readonly finder: CandidateFinder;
  private moving: Moving | undefined;
  /** As it was saved last, when this began. */
  private before: MovedState | undefined;
  private readonly pair = new FeedbackColumns();
  /** Users and items of the latest likes, and of those before them. */
  private known: [Set<string>, Set<string>] = [new Set(), new Set()];
  private takenUpMs = Number.NEGATIVE_INFINITY;
  private savedMs = Number.NEGATIVE_INFINITY;
  /** Questions that may be asked now, as of a time, milliseconds since the epoch. */
  private left = ASKED_AT_ONCE;
  private filledMs: number;

  constructor(parts: AnsweredQuestionsParts) {
    this.parts = parts;
    this.filledMs = parts.clock();
    const { settings, inputs, isPositive, scratch } = parts;
    // Users like a user take a worker.
    const few = Math.min(PROPOSALS, settings.cacheSize);
    const asked = { ...settings, user_based: false, cacheSize: few, proposals: few };
    this.finder = new CandidateFinder(asked, inputs, isPositive, scratch);
  }

  /** Learns how far the ranking had moved when it was saved last. */
  async restore(): Promise<void> {
    this.before = ((await this.parts.states.getState(MOVED_STATE)) ?? undefined) as MovedState | undefined;
  }

  async save(): Promise<void> {
    const { moving } = this;
    if (moving === undefined) return;
    const { generation, weights } = moving;
    const moved: MovedState = { generation, weights: weights.save() };
    await this.parts.states.putState(MOVED_STATE, moved);
  }

  /** Moves a ranking that serves from now on to where it was, be it before a restart. */
  resume(): void {
    const number = this.movingNumber;
    if (this.moving?.generation !== number && this.before?.generation !== number) return;
    this.takenUpMs = Number.NEGATIVE_INFINITY;
    this.takeUp();
  }

  /** Learns from the likes of a commit, a question a step. To be followed before anything that counts likes follows it. */
  *follow({ added, removed }: Pick<ChangeSet, 'added' | 'removed'>): Generator<undefined> {
    const { inputs, settings } = this.parts;
    if (added.length === 0 || settings.order !== 'learned' || inputs.generation?.ranking === undefined)
      return;
    const likes = this.likesOf(added, removed);
    let learned = 0;
    for (const at of likes.asked) {
      if (inputs.generation?.ranking === undefined) break;
      // Before it takes a question from those that others have left.
      if (!this.isNew(added.userRows[at]!, added.itemRows[at]!)) continue;
      if (!this.mayAsk()) break;
      const question = this.ask(added, at, likes.byUser.get(added.userRows[at]!)!);
      yield;
      if (question === undefined) continue;
      const { moving, kind, features, chosen } = question;
      moving.weights.learn({ features, chosen }, moving.fitted.byKind[kind]!);
      learned++;
      yield;
    }
    if (learned === 0) return;
    this.takeUp();
    const nowMs = this.parts.clock();
    if (Math.abs(nowMs - this.savedMs) < SAVED_MS) return;
    this.savedMs = nowMs;
    // One that fails is written again with a later like, and at the stop.
    this.save().catch(() => {});
  }

  /** Takes a question from those that there are for now. */
  private mayAsk(): boolean {
    const { clock, itemCount } = this.parts;
    const nowMs = clock();
    const since = Math.max(0, nowMs - this.filledMs) / 1000;
    this.left = Math.min(ASKED_AT_ONCE, this.left + since * ASKED_A_SECOND);
    this.filledMs = nowMs;
    const cost = 1 + itemCount() / ITEMS_FOR_TWO;
    if (this.left < cost) return false;
    this.left -= cost;
    return true;
  }

  /** The likes that are asked about, evenly spread, and by user and item the types that are new with the commit. */
  private likesOf(added: FeedbackColumns, removed: FeedbackColumns) {
    const { inputs, isPositive } = this.parts;
    const sinceMs = inputs.popularity.asOfMs - LATE_MS;
    // What many like in one commit says of that item, not once for each of them how lists are to be ranked.
    const ofItems = new Map<number, number>();
    for (let at = 0; at < added.length; at++)
      if (isPositive(added.types[at]!) && added.timesMs[at]! >= sinceMs) ofItems.set(added.itemRows[at]!, at);
    const asked = spreadEvenly([...ofItems.values()], ASKED_MAX);
    const byUser = new Map<number, NewTypes>(asked.map((at) => [added.userRows[at]!, new Map()]));
    for (let at = 0; at < added.length; at++) {
      const ofUser = byUser.get(added.userRows[at]!);
      if (ofUser !== undefined) getOrPut(ofUser, added.itemRows[at]!, () => new Set()).add(added.types[at]!);
    }
    // An overwritten record is no new one.
    for (let at = 0; at < removed.length; at++)
      byUser.get(removed.userRows[at]!)?.get(removed.itemRows[at]!)?.delete(removed.types[at]!);
    return { asked, byUser };
  }

  /** True where the user has positive feedback on the item of other types than those. */
  private hadLiked(userRow: number, itemRow: number, newTypes: ReadonlySet<number>): boolean {
    const { pair } = this;
    const { reads, isPositive } = this.parts;
    pair.clear();
    reads.readPairFeedback(userRow, itemRow, pair);
    return pair.types.subarray(0, pair.length).some((type) => isPositive(type) && !newTypes.has(type));
  }

  /** @returns false where the user has liked the item before, as far as that is known */
  private isNew(userRow: number, itemRow: number): boolean {
    const key = `${userRow} ${itemRow}`;
    const [latest, before] = this.known;
    if (latest.has(key) || before.has(key)) return false;
    latest.add(key);
    if (latest.size >= KNOWN_AGAIN) this.known = [new Set(), latest];
    return true;
  }

  /** @returns undefined where nothing is to be learned of it */
  private ask(added: FeedbackColumns, at: number, ofCommit: NewTypes) {
    const { finder } = this;
    const { inputs, history } = this.parts;
    const [userRow, itemRow] = [added.userRows[at]!, added.itemRows[at]!];
    const age = added.timesMs[at]! - inputs.timestampMsAt(itemRow);
    if (age < SHOWN_AFTER_MS || this.hadLiked(userRow, itemRow, ofCommit.get(itemRow)!)) return undefined;
    const moving = this.movingNow();
    const { fitted, sums } = moving;
    history.load(userRow, added.timesMs[at]!, ofCommit);
    const wanted = { scales: SCALES, latest: true, sums };
    const proposal = finder.propose(history, wanted, undefined, finder.withoutCatalogue(history));
    const chosen = proposal.candidates.indexOf(itemRow);
    if (chosen < 0 || proposal.candidates.length < 2) return undefined;
    const features = rankingFeatures(proposal, inputs, this.totalsFor(fitted));
    return { moving, kind: proposal.kind, features, chosen };
  }

  /** Number of the generation whose ranking moves; 0 for all that have learned none, over which it moves on. */
  private get movingNumber(): number {
    const { number, ranking } = this.parts.generations.current;
    return ranking?.isUntaught ? 0 : number;
  }

  /** The feedback on each scale by whose size the ranking reads counts; without a fit that of now, records of now. */
  private totalsFor({ isUntaught, totals }: Ranking): readonly number[] {
    return isUntaught ? this.parts.totals() : totals;
  }

  private movingNow(): Moving {
    const number = this.movingNumber;
    if (this.moving?.generation === number) return this.moving;
    const { ranking } = this.parts.generations.current;
    const fitted = ranking!.learned ?? ranking!;
    const sums = [...new Set(fitted.byKind.flatMap(sumsOf))];
    const { before } = this;
    const known = fitted.isUntaught ? UNTAUGHT_QUESTIONS : KNOWN_QUESTIONS;
    const weights = new MovingWeights(known, before?.generation === number ? before.weights : undefined);
    this.moving = { generation: number, fitted, sums, weights };
    return this.moving;
  }

  /** Lists go by the weights as they are now, also those that workers make. */
  private takeUp(): void {
    const { generations, settings, clock } = this.parts;
    const nowMs = clock();
    const { current } = generations;
    if (current.ranking === undefined) return;
    if (Math.abs(nowMs - this.takenUpMs) < TAKEN_UP_MS) return;
    this.takenUpMs = nowMs;
    const { fitted, weights } = this.movingNow();
    const moved = {
      ...fitted,
      totals: this.totalsFor(fitted),
      ...weights.applyTo(fitted),
      byKind: fitted.byKind.map((kind) => weights.applyTo(kind)),
    };
    generations.current = { ...current, ranking: withDiscovery(moved, settings.discovery) };
  }
}
