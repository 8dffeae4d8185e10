import type { Task } from '../../domain/admin-schemas.ts';
import type { Clock } from '../../domain/clock.ts';
import { messageOf } from '../../domain/furze-error.ts';
import { formatTimestamp } from '../../domain/rfc3339.ts';
import type { RankingChoice } from '../../recommend/ranking/choose-ranking.ts';
import type { SavedStates } from '../../store/cache-store.ts';
import { type Pace, PaceMeter } from './pace-meter.ts';

/** Name of the state that keeps the tasks over restarts. */
const STATE_NAME = 'tasks';
/** The measure of the lists among the results of a fit. */
export const LISTS_QUALITY = 'lists NDCG@10';
const KEPT = 100;

export type TaskKind = 'fit' | 'lists' | 'search' | 'evaluation' | 'compaction' | 'backup' | 'import';
export type TaskResult = NonNullable<Task['Result']>;

export interface RunningTask {
  readonly tell: (stage: string, done: number, total: number) => Pace;
  readonly done: (result: TaskResult) => void;
  readonly failed: (error: unknown) => void;
  /** Cut off by a stop of the service. */
  readonly stopped: () => void;
}

interface Entry {
  readonly id: number;
  readonly kind: TaskKind;
  readonly startedMs: number;
  /** By the time that has passed. */
  readonly sinceMs: number;
  pace?: Pace;
}

/** The tasks in the background, those that run and the last that ended; kept over restarts. */
export class TaskList {
  private readonly clock: Clock;
  private readonly elapsedMs: Clock;
  private readonly states: SavedStates;
  private readonly onEnd: (task: Task, before: readonly Task[]) => void;
  private readonly running = new Map<number, Entry>();
  private past: Task[] = [];
  private lastId = 0;
  private saving: Promise<void> = Promise.resolve();
  private isSaveWaiting = false;

  /**
   * @param onEnd told of each task that ends, with those that ended before, newest first
   * @param elapsedMs time that has passed: how long a task takes goes by it
   */
  constructor(clock: Clock, states: SavedStates, onEnd: TaskList['onEnd'] = () => {}, elapsedMs = clock) {
    this.clock = clock;
    this.elapsedMs = elapsedMs;
    this.states = states;
    this.onEnd = onEnd;
  }

  /** Reads what was kept. A task that ran when the process ended was stopped by that. */
  async restore(): Promise<void> {
    const saved = (await this.states.getState(STATE_NAME)) as readonly Task[] | undefined;
    if (!Array.isArray(saved)) return;
    this.past = saved.map((task: Task) => (task.State === 'running' ? { ...task, State: 'stopped' } : task));
    this.lastId = this.past.reduce((last, { Id }) => Math.max(last, Id), 0);
  }

  /** Tasks that run, oldest first. */
  get current(): readonly Task[] {
    return Array.from(this.running.values(), (entry) => this.describe(entry));
  }

  /** The pace of the fit or the pass over the lists that runs; undefined without any. */
  get fitPace(): Pace | undefined {
    const entries = [...this.running.values()];
    return entries.find(({ kind, pace }) => pace !== undefined && (kind === 'fit' || kind === 'lists'))?.pace;
  }

  /** Tasks that have ended, newest first. */
  get ended(): readonly Task[] {
    return this.past;
  }

  /** The last of its kind that ended by itself, well or not. */
  last(kind: TaskKind): Task | undefined {
    return this.past.find(({ Kind, State }) => Kind === kind && State !== 'stopped');
  }

  begin(kind: TaskKind): RunningTask {
    const entry: Entry = { id: ++this.lastId, kind, startedMs: this.clock(), sinceMs: this.elapsedMs() };
    const meter = new PaceMeter();
    this.running.set(entry.id, entry);
    this.save();
    const end = (more: Pick<Task, 'State' | 'Result' | 'Error'>) => {
      if (!this.running.delete(entry.id)) return;
      const {
        Stage: _stage,
        Done: _done,
        Total: _total,
        PerSecond: _pace,
        SecondsLeft: _left,
        ...rest
      } = this.describe(entry);
      const before = this.past;
      const task = { ...rest, EndedAt: formatTimestamp(this.clock()), ...more };
      this.past = kept([task, ...before]);
      this.save();
      this.onEnd(task, before);
    };
    return {
      tell: (stage, done, total) => (entry.pace = meter.tell(stage, done, total, this.elapsedMs())),
      done: (Result) => end({ State: 'done', Result }),
      failed: (error) => end({ State: 'failed', Error: messageOf(error) }),
      stopped: () => end({ State: 'stopped' }),
    };
  }

  /** Resolves when all is kept. */
  flush(): Promise<void> {
    return this.saving;
  }

  private describe({ id, kind, startedMs, sinceMs, pace }: Entry): Task {
    return {
      Id: id,
      Kind: kind,
      State: 'running',
      StartedAt: formatTimestamp(startedMs),
      Seconds: (this.elapsedMs() - sinceMs) / 1000,
      ...(pace !== undefined && {
        Stage: pace.stage,
        Done: pace.done,
        Total: pace.total,
        ...(pace.perSecond !== undefined && { PerSecond: pace.perSecond }),
        ...(pace.leftMs !== undefined && { SecondsLeft: pace.leftMs / 1000 }),
      }),
    };
  }

  private save(): void {
    if (this.isSaveWaiting) return;
    this.isSaveWaiting = true;
    const put = () => {
      this.isSaveWaiting = false;
      return this.states.putState(STATE_NAME, [...this.current, ...this.past]);
    };
    // What cannot be kept is lost for the next start alone; the store reports its own trouble.
    this.saving = this.saving.then(put).catch(() => {});
  }
}

/**
 * Without those that are too many, newest first: of the kind and end of which there are most the oldest goes, so that
 * what happens often, as backups do, does not push the last fit out.
 */
function kept(past: readonly Task[]): Task[] {
  const left = [...past];
  while (left.length > KEPT) {
    const sorts = left.map(({ Kind, State }) => `${Kind} ${State}`);
    const counts = new Map<string, number>();
    for (const sort of sorts) counts.set(sort, (counts.get(sort) ?? 0) + 1);
    const most = Math.max(...counts.values());
    left.splice(
      sorts.findLastIndex((sort) => counts.get(sort) === most),
      1,
    );
  }
  return left;
}

/** Outcome of the ranking, for the log of tasks. */
export function rankingResult(choice: RankingChoice | undefined): TaskResult {
  const quality = choice?.rows.find(({ name }) => name === choice.chosen)?.quality;
  if (choice === undefined || quality === undefined) return {};
  return { 'ranked by': choice.chosen, [LISTS_QUALITY]: quality.mean };
}
