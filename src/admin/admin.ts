import { setImmediate as nextTurn } from 'node:timers/promises';
import { countPositives, feedbackFacts, feedbackTypes } from '../background/fit/feedback-facts.ts';
import type { FitSchedule } from '../background/fit/fit-schedule.ts';
import type { GivenModels } from '../background/generation/given-models.ts';
import type { SettingsSearch } from '../background/search/settings-search.ts';
import type { TaskKind, TaskList } from '../background/tasks/task-list.ts';
import { apiKeys } from '../config/api-keys.ts';
import type { Config } from '../config/config.ts';
import { type ConfigOrigin, describeConfig } from '../config/value-origins.ts';
import type {
  ConfigReport,
  FeedbackType,
  ItemView,
  Model,
  Quality,
  Series,
  Storage,
  Summary,
  Task,
  Tasks,
  UserHistory,
  UserView,
} from '../domain/admin-schemas.ts';
import type { Clock } from '../domain/clock.ts';
import { FurzeError } from '../domain/furze-error.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import type { Logger } from '../platform/log/log.ts';
import { VERSION } from '../platform/program/version.ts';
import type { Recommendation } from '../recommend/start-recommendation.ts';
import type { CacheStore } from '../store/cache-store.ts';
import { type Cluster, leaderOf } from '../store/cluster.ts';
import type { DataStore } from '../store/data-store.ts';
import type { ShownLog } from '../store/shown-log.ts';
import { Activity } from './activity.ts';
import { AuditLog } from './audit-log.ts';
import { AutomaticCompaction } from './automatic-compaction.ts';
import { Backups } from './backups.ts';
import { Evaluation } from './evaluation.ts';
import { ImportTasks } from './import-tasks.ts';
import { ItemCards } from './item-cards.ts';
import { ItemViewer } from './item-viewer.ts';
import { MetricsSampler, type RequestTotals } from './metrics-sampler.ts';
import { describeModel, describeQuality, lastGoodFit, sharedMemories } from './model-facts.ts';
import { describeNodes, nodeTroubles } from './nodes.ts';
import { RuleEditor } from './rule-editor.ts';
import { describeStorage, diskSpace, type StoreFolders } from './storage.ts';
import { type Facts, findTroubles, formatAge } from './troubles.ts';
import { type UserQuery, UserViewer } from './user-viewer.ts';

const TASK_NAMES: Readonly<Record<string, string>> = {
  ...{ fit: 'a fit', lists: 'a pass over the lists', search: 'a search for settings' },
  ...{ evaluation: 'an evaluation', compaction: 'a compaction', backup: 'a backup', import: 'an import' },
} satisfies Record<TaskKind, string>;
const LEARNING: readonly string[] = ['fit', 'lists', 'search'];

export interface AdminParts {
  readonly config: Config;
  readonly origin: ConfigOrigin;
  readonly folders: StoreFolders;
  readonly data: DataStore;
  readonly cache: CacheStore;
  readonly shownLog: ShownLog;
  /** The nodes that share the data; undefined for a service of its own. */
  readonly cluster: Cluster | undefined;
  readonly recommendation: Recommendation;
  readonly tasks: TaskList;
  readonly fits: FitSchedule;
  readonly search: SettingsSearch;
  /** Models that other tools have trained. */
  readonly given: GivenModels;
  readonly requests: () => Promise<RequestTotals>;
  /** Why the stores do not answer, `""` when they do. */
  readonly storeError: () => Promise<string>;
  readonly engine: string;
  readonly threads: number;
  readonly clock: Clock;
  readonly elapsedMs: Clock;
  readonly log: Logger;
}

/** Answers an operator's questions about a running service. Nothing here takes longer than a page of a table or a user's list. */
export class Admin {
  private readonly sampler: MetricsSampler;
  private readonly evaluation: Evaluation;
  readonly compaction: AutomaticCompaction;
  readonly backups: Backups;
  readonly imports: ImportTasks;
  readonly models: GivenModels;
  readonly activity: Activity;
  readonly cards: ItemCards;
  readonly audit: AuditLog;
  readonly rules: RuleEditor;
  private readonly parts: AdminParts;
  private readonly users: UserViewer;
  private readonly items: ItemViewer;
  private readonly startedMs: number;
  /** By the time that has passed. */
  private readonly sinceMs: number;

  constructor(parts: AdminParts) {
    this.parts = parts;
    this.cards = new ItemCards(parts.recommendation.reads, parts.config.dashboard);
    this.users = new UserViewer(parts.recommendation, this.cards, parts.config.recommend);
    this.items = new ItemViewer(parts.recommendation, parts.data, this.cards);
    this.startedMs = parts.clock();
    this.sinceMs = parts.elapsedMs();
    const { requests, cache, clock, elapsedMs, config, data, tasks, log } = parts;
    this.activity = new Activity({ ...parts, cards: this.cards }, cache, clock);
    const freeShare = config.database.compact_free_share;
    this.audit = new AuditLog(data, clock, (message, error) => log.error({ err: error }, message));
    this.rules = new RuleEditor({ data, rules: parts.recommendation.rules, audit: this.audit, clock });
    this.backups = new Backups(data, tasks);
    this.compaction = new AutomaticCompaction({ data, tasks, freeShare, elapsedMs, log });
    this.imports = new ImportTasks(tasks);
    this.models = parts.given;
    this.sampler = new MetricsSampler({ requests, sizes: () => this.sizes(), states: cache, clock });
    const { dataPath } = parts.folders;
    this.evaluation = new Evaluation({ config, dataPath, tasks, states: cache, clock });
  }

  /** Reads what was kept and begins to take samples. */
  async start(): Promise<void> {
    await Promise.all([this.sampler.start(), this.evaluation.restore(), this.activity.start()]);
  }

  /** Cuts off an evaluation, and keeps the samples. */
  async stop(): Promise<void> {
    this.compaction.stop();
    this.imports.stop();
    await Promise.all([this.evaluation.stop(), this.sampler.stop(), this.activity.stop()]);
  }

  async summary(): Promise<Summary> {
    const { data, recommendation, config, folders, tasks, fits, origin, engine, threads, cluster } =
      this.parts;
    const facts = await this.facts();
    const stats = await data.getStats().catch(() => ({ users: 0, items: 0, feedback: 0 }));
    const model = this.model();
    const task = mostTelling(tasks.current);
    const { nextInMs } = fits;
    const Troubles = findTroubles(facts);
    const Ready = facts.storeError === '';
    const Recommends = recommendation.generations.hasModel;
    return {
      Sentence: sentence({ Ready, Recommends, Troubles, Model: model, Task: task, nextInMs }),
      Ready,
      Recommends,
      Troubles,
      Users: stats.users,
      Items: stats.items,
      Feedback: stats.feedback,
      PositiveFeedback: facts.positives,
      ReadFeedback: sum(facts.types.filter(({ Read }) => Read)),
      FeedbackTypes: [...facts.types],
      ...(model !== undefined && { Model: model }),
      ...(nextInMs !== undefined && { NextFitSeconds: nextInMs / 1000 }),
      ...(task !== undefined && { Task: task }),
      ...(cluster !== undefined && { Nodes: describeNodes(cluster) }),
      Service: {
        Version: VERSION,
        Node: process.version,
        Engine: engine,
        StartedAt: formatTimestamp(this.startedMs),
        UptimeSeconds: (this.parts.elapsedMs() - this.sinceMs) / 1000,
        DataFolder: folders.dataPath,
        ConfigFile: origin.file,
        HasKey: apiKeys(config).length > 0,
        Threads: threads,
      },
    };
  }

  /** The last `steps` samples, of which several become one point where they are many. */
  series(steps: number): Series {
    return this.sampler.ring.read(steps, this.parts.clock());
  }

  tasks(): Tasks {
    const { tasks, fits } = this.parts;
    const { nextInMs } = fits;
    return {
      Running: [...tasks.current],
      Past: [...tasks.ended],
      ...(nextInMs !== undefined && { NextFitSeconds: nextInMs / 1000 }),
    };
  }

  /** Figures of learning for the metrics. */
  learning() {
    const { tasks, recommendation, config } = this.parts;
    return {
      lastFit: tasks.last('fit'),
      model: this.model(),
      feedbackTypes: feedbackTypes(config.recommend, recommendation),
      staleLists: recommendation.lists.staleCount,
    };
  }

  /**
   * Begins a task; one of its kind that runs is joined. Its outcome stands among the tasks.
   * @throws FurzeError BAD_REQUEST where the data store has no such task, or it is another node's
   */
  async begin(kind: 'fit' | 'search' | 'evaluation' | 'compaction'): Promise<Tasks> {
    const { fits, search, cluster } = this.parts;
    if (cluster !== undefined && !fits.mayFit && (kind === 'fit' || kind === 'search')) {
      await askLeader(cluster, kind);
      return this.tasks();
    }
    // A failure stands in the task; the log has it, too, for one that begins by itself.
    if (kind === 'fit') fits.run().catch(() => {});
    else if (kind === 'search') search.run().catch(() => {});
    else if (kind === 'compaction') this.compaction.compact().catch(() => {});
    else this.evaluation.start();
    // By then it is among the tasks, unless it is a search that waits for a fit.
    await nextTurn();
    return this.tasks();
  }

  /** The model that serves. One that another node has learned is as old as its publication. */
  private model(): Model | undefined {
    const { tasks, fits, clock, cluster } = this.parts;
    const model = fits.served && describeModel(fits.served, tasks.ended, clock());
    const ageMs = cluster?.publishedAgeMs;
    if (model === undefined || model.AgeSeconds !== undefined || ageMs === undefined) return model;
    return { ...model, AgeSeconds: ageMs / 1000, FittedAt: formatTimestamp(clock() - ageMs) };
  }

  user(userId: string, query: UserQuery): Promise<UserView> {
    return this.users.view(userId, query);
  }

  userFeedback(userId: string, count: number, cursor: string): Promise<UserHistory> {
    return this.users.feedback(userId, count, cursor);
  }

  item(itemId: string, neighbors: number): Promise<ItemView | undefined> {
    return this.items.view(itemId, neighbors);
  }

  quality(): Quality {
    const { report, task, error } = this.evaluation;
    return {
      ...describeQuality(this.parts.fits.served, this.parts.tasks.ended),
      ...(report !== undefined && { Evaluation: report }),
      ...(task !== undefined && { EvaluationTask: task }),
      ...(error !== undefined && { EvaluationError: error }),
    };
  }

  storage(): Promise<Storage> {
    const { data, cache, shownLog, folders, fits, config } = this.parts;
    const models = fits.served === undefined ? [] : sharedMemories(fits.served);
    const hitCache = config.server.hit_cache_mb * 1.25 * 2 ** 20;
    return describeStorage(data, cache, shownLog, folders, [
      ...models.map(({ Name, Bytes }) => ({ Name, Bytes, Note: 'Shared by all threads' })),
      { Name: 'cache of answers', Bytes: hitCache, Note: '[server] hit_cache_mb and a quarter: at most' },
      { Name: 'samples', Bytes: this.sampler.ring.bytes, Note: 'A day of the curves of the dashboard' },
    ]);
  }

  config(): ConfigReport {
    const { config, origin } = this.parts;
    return { File: origin.file, Keys: describeConfig(config, origin) };
  }

  private async facts(): Promise<Facts> {
    const { recommendation, config, storeError, tasks, folders, clock, data, cluster } = this.parts;
    const { popular, collaborative, online } = config.recommend;
    const { live, generations } = recommendation;
    const { hasModel } = generations;
    const fit = hasModel ? lastGoodFit(tasks.ended, generations.current.number) : undefined;
    const publishedAgeMs = cluster?.publishedAgeMs;
    return {
      ...(await feedbackFacts(config, data, recommendation)),
      nodeTroubles: cluster === undefined ? [] : nodeTroubles(cluster),
      storeError: await storeError(),
      hasModel,
      modelAgeMs: fit?.EndedAt === undefined ? publishedAgeMs : clock() - Date.parse(fit.EndedAt),
      fitPeriodMs: collaborative.model_fit_period,
      lastFit: tasks.last('fit'),
      isFitting: tasks.current.some(({ Kind }) => Kind === 'fit'),
      popularIsEmpty: live.popular.first(1).length === 0,
      popularWindowMs: popular.popular_window,
      latestIsEmpty: live.latest.first(1).length === 0,
      fallbacks: online.fallback_recommend,
      diskFreeBytes: (await diskSpace(folders.dataPath))?.free,
      hasKey: apiKeys(config).length > 0,
      host: config.server.host,
    };
  }

  private async sizes() {
    const { data, cache, config, recommendation } = this.parts;
    const [{ users, items, feedback, bytes }, cached] = await Promise.all([
      data.getStats(),
      cache.getStats(),
    ]);
    const types = feedbackTypes(config.recommend, recommendation);
    // Before all is counted, what is would be drawn as a fall.
    const ofCounted = (count: number) => (recommendation.live.isCounted ? count : Number.NaN);
    await this.activity.days.sample({ users, items });
    return {
      users,
      items,
      // Where events are counted they are what positive feedback is a part of.
      feedback: recommendation.live.isCounted ? Math.max(feedback, sum(types)) : feedback,
      positive_feedback: ofCounted(countPositives(types)),
      read_feedback: ofCounted(sum(types.filter(({ Read }) => Read))),
      data_bytes: bytes,
      cache_bytes: cached.bytes,
    };
  }
}

/** The task that is told first: what is learned goes before what is sent or copied. */
function mostTelling(tasks: readonly Task[]): Task | undefined {
  return tasks.find(({ Kind }) => LEARNING.includes(Kind)) ?? tasks[0];
}

/** @throws FurzeError BAD_REQUEST where nobody can do it, or it is to be asked of the leader itself */
async function askLeader(cluster: Cluster, kind: 'fit' | 'search'): Promise<void> {
  const leader = leaderOf(cluster);
  if (leader === undefined)
    throw new FurzeError('BAD_REQUEST', 'No node leads, so none can learn at the moment.');
  if (kind === 'search')
    throw new FurzeError(
      'BAD_REQUEST',
      `A search is for the node that leads: ${leader.name}, ${leader.address}.`,
    );
  await cluster.askForFit();
}

function sum(types: readonly FeedbackType[]): number {
  return types.reduce((total, { Count }) => total + Count, 0);
}

function sentence(
  state: Pick<Summary, 'Ready' | 'Recommends' | 'Troubles' | 'Model'> & {
    readonly Task: Task | undefined;
    readonly nextInMs: number | undefined;
  },
): string {
  const { Ready, Recommends, Troubles, Model, Task, nextInMs } = state;
  const worst = Troubles[0];
  if (!Ready) return `Not ready. ${worst?.Message ?? ''}`.trim();
  const next =
    Task !== undefined
      ? `${TASK_NAMES[Task.Kind] ?? Task.Kind} runs${Task.Stage === undefined ? '' : ` (${Task.Stage})`}`
      : nextInMs !== undefined
        ? `the next fit begins in ${formatAge(nextInMs)}`
        : undefined;
  if (!Recommends) {
    const why = worst !== undefined && worst.Severity !== 'hint' ? ` ${worst.Message}` : '';
    return `Ready, but nothing is learned yet${next === undefined ? '' : `; ${next}`}.${why}`;
  }
  const age = Model?.AgeSeconds === undefined ? '' : `, ${formatAge(Model.AgeSeconds * 1000)} old`;
  return `Ready: model ${Model?.Generation ?? ''} serves${age}${next === undefined ? '' : `; ${next}`}.`;
}
