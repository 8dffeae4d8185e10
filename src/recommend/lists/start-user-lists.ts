import type { Config } from '../../config/config.ts';
import { positiveFeedback } from '../../config/positive-feedback.ts';
import type { Clock } from '../../domain/clock.ts';
import type { OpenedParts } from '../../model/registry.ts';
import { inTurns } from '../../platform/concurrency/event-loop-turns.ts';
import type { CacheStore } from '../../store/cache-store.ts';
import type { LocalReads } from '../../store/data-store.ts';
import { History } from '../history/history.ts';
import type { GenerationSlot } from '../models/generation-slot.ts';
import { type ListSettings, listSettings } from '../sources/list-settings.ts';
import type { InMemoryState } from '../state/in-memory-state.ts';
import type { ItemVectors } from '../vectors/item-vectors.ts';
import { ActiveUsers } from './active-users.ts';
import { AnswerCache } from './answer-cache.ts';
import type { ListWorker } from './list-queue.ts';
import { ListVersions } from './list-versions.ts';
import { AnsweredQuestions } from './maker/answered-questions.ts';
import { CandidateScratch } from './maker/candidate-finder.ts';
import { ListMaker } from './maker/list-maker.ts';
import { mainThreadInputs } from './maker/main-thread-inputs.ts';
import { UserLists } from './user-lists.ts';

/** The parts that users' lists stand on. */
export interface ListParts {
  readonly config: Config;
  readonly reads: LocalReads;
  readonly cache: CacheStore;
  /** True where others write to the data, too. */
  readonly hasOtherNodes: boolean;
  readonly live: InMemoryState;
  readonly vectors: ItemVectors;
  readonly generations: GenerationSlot;
  /** Makes users' lists in a worker, and answers questions with the models. */
  readonly worker: ListWorker;
  readonly clock: Clock;
  /** A clock that never goes back, milliseconds. */
  readonly elapsedMs: () => number;
  readonly onTrouble: (message: string, error: unknown) => void;
}

/** Users' lists: how they are made, those that are kept, and the answers out of them. */
export interface StartedLists {
  readonly settings: ListSettings;
  readonly maker: ListMaker;
  readonly lists: UserLists;
  readonly active: ActiveUsers;
  readonly hits: AnswerCache;
  readonly answered: AnsweredQuestions;
  /** Works out in turns what questions ask of a new model. */
  readonly prepare: (model: OpenedParts) => Promise<void>;
}

/** Puts users' lists together and takes up where the last process left them. */
export async function startLists(parts: ListParts): Promise<StartedLists> {
  const { config, reads, cache, hasOtherNodes, live, vectors, generations, clock } = parts;
  const { server, recommend } = config;
  const settings = listSettings(config);
  const inputs = mainThreadInputs({
    ...{ live, vectors, generations, reads, clock },
    cacheSize: settings.cacheSize,
    lastRows: (userRow) => lists.lastRows(userRow),
  });
  const scratch = new CandidateScratch();
  const maker = new ListMaker(settings, inputs, live.isPositive, scratch);
  const itemCount = () => live.catalogue.itemCount;
  const answered = new AnsweredQuestions({
    ...{ settings, inputs, generations, reads, states: cache, isPositive: live.isPositive, scratch, clock },
    history: new History(reads, positiveFeedback(recommend).positiveTtlMs),
    itemCount,
    totals: () => live.popularity.totals(),
  });
  await answered.restore();
  const active = new ActiveUsers(recommend.offline.active_user_ttl, clock);
  const lists: UserLists = new UserLists({
    cache,
    active,
    userCount: () => reads.userRowCount,
    isSettled: () => live.isSettled && vectors.isSettled,
    itemCount,
    generations,
    maker,
    versions:
      hasOtherNodes || cache.local === undefined ? listVersions(config, settings, live, reads) : undefined,
    ages: {
      refreshMs: recommend.offline.refresh_recommend_period,
      expireMs: recommend.cache_expire,
      arrivalMs: server.cache_expire,
    },
    validSinceMs: await settingsSince(settings, cache, clock),
    arrivedMs: () => live.newItems.lastMs,
    movedMs: () => live.movement.lastMs,
    clock,
    elapsedMs: parts.elapsedMs,
    share: recommend.online.remake_share,
    arrivalsSince: (sinceMs) => live.newItems.since(sinceMs),
    worker: parts.worker,
    needsWorker: settings.user_based,
    onReplaced: (userRow) => hits.dropList(userRow),
    onTrouble: parts.onTrouble,
  });
  await lists.restore();
  const hits: AnswerCache = new AnswerCache({
    bytesMax: server.hit_cache_mb * 2 ** 20,
    catalogue: live.catalogue,
    clock,
    clockErrorMs: server.clock_error,
    isStale: (list, nowMs) => lists.isStale(list, nowMs),
    isKnown: (userRow) => reads.isKnown(userRow),
  });
  return { settings, maker, lists, active, hits, answered, prepare: preparing(scratch, live) };
}

function preparing({ sums }: CandidateScratch, { popularity }: InMemoryState): StartedLists['prepare'] {
  return (model) => inTurns(sums.prepare(model, popularity.recent));
}

function listVersions(
  { recommend }: Config,
  settings: ListSettings,
  { isPositive }: InMemoryState,
  reads: LocalReads,
): ListVersions {
  const ground = { settings, ...positiveFeedback(recommend) };
  return new ListVersions(ground, isPositive, () => reads.feedbackTypes());
}

/** Name of the state that tells which settings lists are made with. */
const SETTINGS_STATE = 'list-settings';

/** Since when lists are made with these settings, milliseconds since the epoch; now if they are new. */
async function settingsSince(settings: ListSettings, cache: CacheStore, clock: Clock): Promise<number> {
  const known = (await cache.getState(SETTINGS_STATE)) as { settings: string; sinceMs: number } | undefined;
  const text = JSON.stringify(settings);
  if (known?.settings === text) return known.sinceMs;
  const sinceMs = clock();
  await cache.putState(SETTINGS_STATE, { settings: text, sinceMs });
  return sinceMs;
}
