import { listSpace } from '../config/list-space.ts';
import { positiveFeedback, readTypesOf } from '../config/positive-feedback.ts';
import { effectiveUntil } from '../domain/clock.ts';
import { ttlMs } from '../domain/duration.ts';
import type { OpenedParts } from '../model/registry.ts';
import type { DataStore, LocalReads } from '../store/data-store.ts';
import type { ShownLog } from '../store/shown-log.ts';
import { AnswerCounts } from './answers/answer-counts.ts';
import { Explainer } from './answers/explainer.ts';
import { Fallbacks } from './answers/fallbacks.ts';
import { KindProposals } from './answers/kind-proposals.ts';
import { OnlineRecommender } from './answers/online-recommender.ts';
import { PersonalAnswers } from './answers/personal-answers.ts';
import { WriteBack } from './answers/write-back.ts';
import { Histories } from './history/histories.ts';
import type { ActiveUsers } from './lists/active-users.ts';
import { marksLists } from './lists/list-versions.ts';
import type { AnsweredQuestions } from './lists/maker/answered-questions.ts';
import { markStale } from './lists/mark-stale.ts';
import { type ListParts, type StartedLists, startLists } from './lists/start-user-lists.ts';
import type { UserLists } from './lists/user-lists.ts';
import { GenerationSlot } from './models/generation-slot.ts';
import type { FindRelated, ItemNeighbors } from './neighbors/item-neighbors.ts';
import type { SinceFit } from './neighbors/since-fit.ts';
import { ExplorationPools } from './placements/exploration-pools.ts';
import { KeptFilters } from './placements/kept-filters.ts';
import { PlacementCounts } from './placements/placement-counts.ts';
import { Placements } from './placements/placements.ts';
import { RecommendationTokens } from './placements/recommendation-tokens.ts';
import { Rotation } from './placements/rotation.ts';
import { RulesInEffect } from './placements/rules-in-effect.ts';
import { SeenLately } from './placements/seen-lately.ts';
import { ShownLessons } from './placements/shown-lessons.ts';
import type { CountsStorage } from './popularity/live-counts.ts';
import { popularitySpans } from './popularity/popularity-counts.ts';
import type { ListSettings } from './sources/list-settings.ts';
import type { NameList } from './sources/recommender.ts';
import { createSources } from './sources/registry.ts';
import type { ListOfSession } from './sources/session-source.ts';
import type { Sources } from './sources/source.ts';
import { InMemoryState } from './state/in-memory-state.ts';
import { ItemVectors, type ItemVectorsParts } from './vectors/item-vectors.ts';

/** The recommendation side of a service, put together and kept in step with the store. */
export interface Recommendation {
  readonly recommender: OnlineRecommender;
  readonly explainer: Explainer;
  /** Counts of the ways in which answers were made. */
  readonly answers: AnswerCounts;
  readonly live: InMemoryState;
  readonly lists: UserLists;
  readonly answered: AnsweredQuestions;
  readonly active: ActiveUsers;
  readonly generations: GenerationSlot;
  readonly settings: ListSettings;
  readonly reads: LocalReads;
  readonly sources: Sources;
  readonly itemNeighbors: ItemNeighbors;
  readonly sinceFit: SinceFit;
  readonly histories: Histories;
  readonly tokens: RecommendationTokens;
  readonly vectors: ItemVectors;
  readonly placementCounts: PlacementCounts;
  readonly seenLately: SeenLately;
  readonly pools: ExplorationPools;
  readonly rules: RulesInEffect;
}

export interface RecommendationParts
  extends Omit<ListParts, 'reads' | 'live' | 'vectors' | 'generations' | 'hasOtherNodes'> {
  /** Identity of the data, the same on all nodes that share them. */
  readonly identity: string;
  readonly shownLog: ShownLog;
  readonly data: DataStore;
  readonly findRelated: FindRelated;
  readonly vectors: Pick<
    ItemVectorsParts,
    'instantiate' | 'findAside' | 'clusterAside' | 'slots' | 'servingSlot'
  >;
  readonly countsStorage: CountsStorage;
  /** Told of what is as it should be and worth a line. */
  readonly onNote: (message: string) => void;
}

/** Puts the recommenders together, loads what they keep in memory and subscribes them to the store's changes. */
export async function startRecommendation(parts: RecommendationParts): Promise<Recommendation> {
  const { config, data, findRelated, clock } = parts;
  const reads = data.local;
  const { online } = config.recommend;
  const live = createLive(parts, reads);
  // From the first on, because what is committed meanwhile is not among what is loaded.
  const taught = followCommits(data, live);
  await live.load(reads, (await data.getStats()).feedback);
  const vectors = startVectors(parts);
  const { catalogue, isPositive } = live;
  const generations = new GenerationSlot();
  const hasOtherNodes = data.barrier !== undefined;
  const kept = await startLists({ ...parts, reads, live, vectors, generations, hasOtherNodes });
  const { settings, maker, lists, active, hits, answered } = kept;
  taught.answered = answered;
  const vectorOf = maker.vectorOf.bind(maker);
  const untilMs = () => effectiveUntil(clock(), config.server.clock_error);
  const histories = new Histories(reads, positiveFeedback(config.recommend).positiveTtlMs, untilMs);
  const nobody = histories.take(-1);
  const listOfSession: ListOfSession = (liked, read, { length, discovery }) => {
    nobody.load(-1, untilMs());
    return maker.turnedTo(discovery).makeForSession(nobody, liked, read, length);
  };
  const found = createSources(config, { reads, live, generations, findRelated, vectorOf, listOfSession });
  const { sources, itemNeighbors, sinceFit } = found;
  const nameOf: NameList = (placement, { variant, edition, plan }, took) => ({
    ...{ placement, variant, edition, plan, timeMs: clock(), generation: generations.current.number },
    tookMs: edition === undefined || took === undefined ? undefined : Math.round(took),
  });
  const shared = { ...found, nameOf, live, reads, catalogue, histories, maker, generations };
  const replacesRead = settings.replacement !== undefined;
  const answers = new AnswerCounts();
  const placed = placedBy(parts, live);
  const kinds = new KindProposals({
    ...{ ...shared, ...placed, popularity: live.popularity, isPositive, lists, clock },
  });
  const personal = new PersonalAnswers({
    ...{ ...shared, ...placed, answers, lists, active, hits, replacesRead, clock, kinds },
    fallbacks: new Fallbacks(online.fallback_recommend, found.sources, maker, answers),
    writeBack: new WriteBack(data, catalogue, clock),
  });
  const recommender = new OnlineRecommender({ ...shared, ...placed, kinds, vectors, personal, clock });
  const fallbacks = online.fallback_recommend;
  const explainer = new Explainer({ ...shared, isPositive, replacesRead, recommender, fallbacks });
  const changesList = marksLists(settings, isPositive);
  generations.onServed = (model) => {
    answered.resume();
    void prepare(kept, explainer, model, parts.onTrouble);
  };
  data.onChange(function* (changes) {
    yield* markStale(changes, lists, active, changesList);
    yield* hits.follow(changes);
    yield* sinceFit.follow(changes);
  });
  const served = { recommender, explainer, answers, answered, sources, itemNeighbors, sinceFit };
  return { ...served, ...placed, live, lists, active, generations, settings, reads, histories, vectors };
}

/** Works out what questions ask of a new model, before they come. */
async function prepare(
  kept: Pick<StartedLists, 'prepare'>,
  explainer: Explainer,
  model: OpenedParts,
  onTrouble: RecommendationParts['onTrouble'],
): Promise<void> {
  try {
    await kept.prepare(model);
    await explainer.rehearse();
  } catch (error) {
    onTrouble('what questions ask of a new model could not be prepared', error);
  }
}

/** Follows each commit; the ranking learns from likes as of before it, where all feedback is here. @returns where to put what learns */
function followCommits(data: DataStore, live: InMemoryState) {
  const taught: { answered?: AnsweredQuestions } = {};
  data.onChange(function* (changes) {
    if (taught.answered !== undefined && !data.local.isPartial) yield* taught.answered.follow(changes);
    yield* live.follow(changes);
  });
  return taught;
}

/** The vectors of items, which are read in turns from now on. */
function startVectors({ config, data, onTrouble, onNote, vectors: parts }: RecommendationParts): ItemVectors {
  const { vectors: spaces } = config;
  const kept = { reads: data.local, onTrouble, onNote };
  const vectors = new ItemVectors({ ...parts, ...kept, spaces, listSpace: listSpace(config) });
  data.onChange((changes) => vectors.follow(changes));
  void vectors.load();
  return vectors;
}

/** Placements in effect, how their lists are told apart later, and what was shown of them. */
function placedBy(
  { config, identity, shownLog, clock, elapsedMs, data, onTrouble }: RecommendationParts,
  { catalogue }: Pick<InMemoryState, 'catalogue'>,
) {
  const rules = new RulesInEffect(config, data.local, onTrouble);
  const placements = new Placements(rules.current);
  const explored = () => placements.namesWith(({ settings }) => settings.explore > 0);
  const readTypes = readTypesOf(config.recommend);
  const rowCount = () => catalogue.rowCount;
  const pools = new ExplorationPools({ explored, clock, rowCount, readTypes, onTrouble });
  const rotation = new Rotation();
  const lessons = new ShownLessons(shownLog, elapsedMs, [pools, rotation], onTrouble);
  const learn = () => {
    if (placements.namesWith(({ learns }) => learns).length > 0) lessons.renew(true);
  };
  learn();
  rules.onChange((changed) => {
    placements.use(changed);
    learn();
  });
  data.onChange(({ journals }) => {
    rules.follow(journals);
    return undefined;
  });
  return {
    ...{ rules, placements, pools, rotation, lessons },
    tokens: new RecommendationTokens(identity),
    placementCounts: new PlacementCounts(),
    filters: new KeptFilters(catalogue, clock),
    seenLately: new SeenLately(shownLog, elapsedMs),
  };
}

function createLive(
  { config, clock, countsStorage, onTrouble, onNote }: RecommendationParts,
  reads: LocalReads,
): InMemoryState {
  const { data_source, offline } = config.recommend;
  return new InMemoryState({
    reads,
    clock,
    positiveTypes: positiveFeedback(config.recommend).positiveTypes,
    spans: popularitySpans(config.recommend),
    itemTtlMs: ttlMs(data_source.item_ttl),
    newestCount: offline.enable_latest_recommend || offline.explore_recommend.latest > 0,
    countsStorage,
    onTrouble,
    onNote,
  });
}
