import { loadKernels } from '../kernel/load-kernels.ts';
import { hasBit } from '../memory/bits.ts';
import { atOnce } from '../platform/concurrency/event-loop-turns.ts';
import { measureProcessorTimes } from '../platform/process/processor-times.ts';
import { UnpackedItems } from '../recommend/catalogue/item-filter.ts';
import { readLabels } from '../recommend/catalogue/item-labels.ts';
import { likeTest, type TypeTest, typeTest } from '../recommend/history/counts-as-positive.ts';
import { History } from '../recommend/history/history.ts';
import type { Remade } from '../recommend/lists/list-queue.ts';
import { ListVersions } from '../recommend/lists/list-versions.ts';
import { type Found, findWanted } from '../recommend/lists/maker/answer-from-models.ts';
import { CandidateScratch } from '../recommend/lists/maker/candidate-finder.ts';
import { ListMaker } from '../recommend/lists/maker/list-maker.ts';
import { type Generation, openGeneration } from '../recommend/models/generation-slot.ts';
import { itemsOfUsers, USERS_ASKED } from '../recommend/neighbors/items-of-users.ts';
import { KeptLikes, likesInStore } from '../recommend/neighbors/kept-likes.ts';
import { neighborsFromStore } from '../recommend/neighbors/neighbors-from-store.ts';
import { askedUser, userRelation } from '../recommend/neighbors/user-neighbors.ts';
import { RecentLikes } from '../recommend/popularity/recent-likes.ts';
import { KeptItemScores } from '../recommend/ranking/kept-item-scores.ts';
import type { ListInputs } from '../recommend/sources/list-inputs.ts';
import { VectorReader } from '../recommend/vectors/vector-reader.ts';
import type { UserList } from '../store/cache-store.ts';
import type { LocalReads } from '../store/data-store.ts';
import type { ListPlan, ListsJob, ListsMade, QuestionJob } from './messages.ts';
import { cacheAt, sharedListsAt, withReads } from './open-stores.ts';

/** Time by the clock after which a thread gives back the rest of a block, milliseconds: it may be starved of a processor. */
const PIECE_MS = 500;

/** Users whose candidates are looked up together, and from how many on that takes less time than one by one. */
const GROUP_USERS = 64;
const GROUP_USERS_MIN = 8;

/** Larger tables of vectors are not searched for candidates: a list would take more than some ten milliseconds. */
const SEARCHED_BYTES = 64 * 2 ** 20;

const NOTHING_MADE = { lists: [], forsaken: [], stored: 0 };

/**
 * See `ListsJob`. Users for whom no recommender has anything get no list, and lose one that was made of what they took back.
 * Lists that nodes share and another has just made are left as they are.
 */
export async function makeLists(job: ListsJob): Promise<ListsMade> {
  const { plan, isStored } = job;
  const processorTimes = measureProcessorTimes();
  const shared = isStored && plan.sharedLists ? await sharedListsAt(plan.sharedLists) : undefined;
  // Nobody would find them; they are made when they are asked for.
  if (shared?.isAvailable === false)
    return { ...NOTHING_MADE, users: job.userRows.length, processor: processorTimes() };
  const known = await shared?.findAll(Array.from(job.userRows));
  const endMs = performance.now() + PIECE_MS;
  const { users, ...made } = madeLists(job, () => isStored && performance.now() >= endMs, known);
  if (shared) await shared.change(made.lists, made.forsaken).catch(() => {});
  else if (isStored) await storeLists(plan.cachePath, made);
  const answered = isStored ? { lists: [], forsaken: [], stored: made.lists.length } : { ...made, stored: 0 };
  return { ...answered, users, processor: processorTimes() };
}

async function storeLists(cachePath: string, { lists, forsaken }: Remade): Promise<void> {
  const cache = cacheAt(cachePath);
  cache.local?.refresh();
  await cache.putLists(
    lists,
    forsaken.filter((userRow) => cache.local?.readList(userRow) !== undefined),
  );
  cache.local?.refresh();
}

/**
 * The lists of a job.
 * @param isTimeUp asked after each user; those that would come next are left out
 * @param known lists that there are, in the order of the users: of those that are as of now and young no other is made
 * @returns also how many users were seen to
 */
export function madeLists(
  job: Omit<ListsJob, 'kind' | 'isStored'>,
  isTimeUp: () => boolean = () => false,
  known: readonly (UserList | undefined)[] = [],
): Remade & { readonly users: number } {
  const { plan, madeMs } = job;
  return withReads(plan.dataPath, (reads) => {
    const isPositive = typeTest(plan.positiveTypes, () => reads.feedbackTypes());
    const versions = plan.versioned
      ? new ListVersions(plan, isPositive, () => reads.feedbackTypes())
      : undefined;
    const isAsOfNow = (list: UserList | undefined, now: History) =>
      list !== undefined &&
      madeMs - list.madeMs < plan.youngMs &&
      list.generation === plan.generation.number &&
      versions?.isOf(now, list.basis);
    const generation = plan.generation.number;
    const maker = makerFor(job, reads, isPositive);
    const load = historiesOf(job, reads);
    const lists: UserList[] = [];
    const forsaken: number[] = [];
    for (let from = 0; from < job.userRows.length; from += GROUP_USERS) {
      const group = load(from).map((history, at) =>
        history !== undefined && isAsOfNow(known[from + at], history) ? 'as of now' : history,
      );
      const asked = group.filter((of) => of instanceof History);
      const lookedUp = asked.length < GROUP_USERS_MIN ? [] : maker.lookUp(asked);
      for (let at = 0, next = 0; at < group.length; at++) {
        if (from + at > 0 && isTimeUp()) return { lists, forsaken, users: from + at };
        const history = group[at];
        const userRow = job.userRows[from + at]!;
        if (history === undefined) forsaken.push(userRow);
        if (!(history instanceof History)) continue;
        const made = maker.make(history, undefined, lookedUp[next++]);
        if (made === undefined) {
          if (history.positiveRows(isPositive, 1).length === 0) forsaken.push(userRow);
          continue;
        }
        const itemRows = Uint32Array.from(made.rows);
        const scores = Float32Array.from(made.scores);
        const basis = versions?.basisOf(history);
        const list = { userRow, generation, madeMs, knowsMs: plan.knowsMs, itemRows, scores };
        lists.push(basis === undefined ? list : { ...list, basis });
      }
    }
    return { lists, forsaken, users: job.userRows.length };
  });
}

/** Loads the histories of the group of users from a place on, undefined for one who is gone; good until the next group. */
function historiesOf(
  { plan, userRows, untilMs }: Pick<ListsJob, 'plan' | 'userRows' | 'untilMs'>,
  reads: LocalReads,
): (from: number) => readonly (History | undefined)[] {
  const histories: History[] = [];
  return (from) =>
    Array.from(userRows.subarray(from, from + GROUP_USERS), (userRow, at) => {
      if (reads.userIdAt(userRow) === undefined) return undefined;
      histories[at] ??= new History(reads, plan.positiveTtlMs);
      histories[at].load(userRow, untilMs);
      return histories[at];
    });
}

/** See `QuestionJob`. */
export function answerQuestion(job: QuestionJob): Found {
  const { plan, userRow, untilMs, items } = job;
  return withReads(plan.dataPath, (reads) => {
    const isPositive = typeTest(plan.positiveTypes, () => reads.feedbackTypes());
    const history = new History(reads, plan.positiveTtlMs);
    history.load(userRow, untilMs);
    return findWanted(makerFor(job, reads, isPositive), history, new UnpackedItems(items), job);
  });
}

function makerFor(job: MakerJob, reads: LocalReads, isPositive: TypeTest): ListMaker {
  const { plan } = job;
  const { generation, kept, vectors } = openedFor(job, reads);
  const inputs = { ...copiedInputs(plan, generation, reads, isPositive, likes), kept, recentLikes, vectors };
  return new ListMaker(plan.settings, inputs, isPositive, scratch);
}

type MakerJob = Pick<ListsJob, 'plan' | 'slot' | 'untilMs'>;

/** Likes are looked up anew after so long, milliseconds: a pass may take an hour. */
const KEPT_LIKES_MS = 60_000;

/** Scores of items that are kept, by kind of user: three megabytes a thread. */
const KEPT_PLACES = 2 ** 18;

/** State that the blocks at work share: making it takes longer than many lists. */
interface Opened {
  readonly planId: number;
  readonly slot: number;
  readonly generation: Generation;
  readonly kept: KeptItemScores;
  readonly vectors: VectorReader | undefined;
}

let opened: Opened | undefined;

/** This thread's, of the plan that is opened. */
const likes = new KeptLikes();
let likesSinceMs = 0;

/** This thread's, of the plan that is opened. */
const recentLikes = new RecentLikes();

/** This thread's: arrays as long as the catalogue, which would take as long to make as a list. */
const scratch = new CandidateScratch();

function openedFor({ plan, slot, untilMs }: MakerJob, reads: LocalReads): Opened {
  if (opened?.planId !== plan.id || opened.slot !== slot) {
    const itemLabelsOf = (row: number) => reads.itemAt(row)?.Labels ?? [];
    const generation = openGeneration(
      plan.generation,
      { instantiate: loadKernels, slot, itemLabelsOf },
      plan.settings.discovery,
    );
    opened = {
      planId: plan.id,
      slot,
      generation,
      kept: new KeptItemScores(KEPT_PLACES),
      vectors: readerOf(plan, slot),
    };
    recentLikes.restore(plan.recentLikes);
    likes.clear();
    likesSinceMs = untilMs;
  }
  // A clock may be put back.
  if (Math.abs(untilMs - likesSinceMs) > KEPT_LIKES_MS) {
    likes.clear();
    likesSinceMs = untilMs;
  }
  return opened;
}

/** The vectors that lists of a plan go by, as a thread reads them; undefined for none. */
export function readerOf({ vectors }: ListPlan, slot: number): VectorReader | undefined {
  return vectors && new VectorReader(vectors, loadKernels(vectors.memory), slot, SEARCHED_BYTES);
}

/**
 * Inputs of lists, as of the moment at which the pass began.
 * @param keptLikes what users like, where that may be as of another moment than the history that is asked for
 */
export function copiedInputs(
  plan: ListPlan,
  generation: Generation,
  reads: LocalReads,
  isPositive: TypeTest,
  keptLikes?: KeptLikes,
): ListInputs {
  const { listable, latestRows, popularRows, trendingRows, timesMs, settings, userNeighborType } = plan;
  const labelsOf = (userRow: number) => reads.userAt(userRow)?.Labels ?? [];
  return {
    generation,
    labels: plan.labels && readLabels(plan.labels),
    popularity: plan.popularity,
    coldItems: plan.coldItems,
    latestRows: () => latestRows,
    popularRows: () => popularRows,
    trendingRows: (scale) => trendingRows[scale] ?? [],
    timestampMsAt: (row) => timesMs[row] ?? Number.NaN,
    isListable: (row) => hasBit(listable, row),
    listableBits: () => listable,
    userBased(history, accept) {
      const { userRow } = history;
      const relation = userRelation(userNeighborType, labelsOf(userRow).length > 0);
      const isLike = likeTest(isPositive, plan.positiveTtlMs, history.untilMs);
      const asked = askedUser(history, relation, isPositive);
      const users =
        generation.parts.userNeighbors?.find(asked, USERS_ASKED) ??
        neighborsFromStore(reads, relation, userRow, USERS_ASKED, isLike);
      const stored = likesInStore(reads, isLike);
      const likesOf = keptLikes?.through(stored) ?? stored;
      return atOnce(itemsOfUsers(users, likesOf, timesMs.length, settings.cacheSize, accept)).rows;
    },
    labelsOf,
  };
}
