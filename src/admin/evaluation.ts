import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskList } from '../background/tasks/task-list.ts';
import type { Config } from '../config/config.ts';
import type { EvaluationView, Task } from '../domain/admin-schemas.ts';
import type { Clock } from '../domain/clock.ts';
import type { EvaluationReport } from '../domain/evaluation-schemas.ts';
import { formatTimestamp } from '../domain/rfc3339.ts';
import type { SavedStates } from '../store/cache-store.ts';
import { evaluateAside, type RunEvaluation } from './start-evaluation-process.ts';

/** Name of the state that keeps the last report over restarts. */
const STATE_NAME = 'evaluation';
/** In the data folder: what an evaluation uses. It is on a disk that has room for a second store. */
const FOLDER = 'evaluation';

export interface EvaluationParts {
  readonly config: Config;
  readonly dataPath: string;
  readonly tasks: TaskList;
  readonly states: SavedStates;
  readonly clock: Clock;
  /** For tests; a process of its own otherwise. */
  readonly run?: RunEvaluation;
}

/** Judges the lists on held-out feedback when somebody asks for it, one evaluation at a time, and keeps the last report. */
export class Evaluation {
  private readonly parts: EvaluationParts;
  private readonly folder: string;
  private readonly aborts = new AbortController();
  private last: EvaluationView | undefined;
  private running: Promise<void> | undefined;

  constructor(parts: EvaluationParts) {
    this.parts = parts;
    this.folder = join(parts.dataPath, FOLDER);
  }

  /** Reads the last report, and removes what one that was killed has left. */
  async restore(): Promise<void> {
    this.last = (await this.parts.states.getState(STATE_NAME)) as EvaluationView | undefined;
    await this.clear();
  }

  get report(): EvaluationView | undefined {
    return this.last;
  }

  get task(): Task | undefined {
    return this.parts.tasks.current.find(({ Kind }) => Kind === 'evaluation');
  }

  /** Why the last one that ended gave no report; undefined when it did. */
  get error(): string | undefined {
    const last = this.parts.tasks.last('evaluation');
    return last?.State === 'failed' ? last.Error : undefined;
  }

  /** Begins one; one that runs is joined. Its outcome stands among the tasks. */
  start(): void {
    if (this.aborts.signal.aborted) return;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
    });
  }

  /** Cuts off what runs. Resolves when nothing of it is left. */
  async stop(): Promise<void> {
    this.aborts.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { config, tasks, states, clock, run = evaluateAside } = this.parts;
    const { signal } = this.aborts;
    const task = tasks.begin('evaluation');
    try {
      await mkdir(this.folder, { recursive: true });
      signal.throwIfAborted();
      const Report = await run(config, this.folder, task.tell, signal);
      this.last = { EvaluatedAt: formatTimestamp(clock()), Report };
      await states.putState(STATE_NAME, this.last);
      task.done(outcome(Report));
    } catch (error) {
      if (signal.aborted) task.stopped();
      else task.failed(error);
    } finally {
      await this.clear();
    }
  }

  private async clear(): Promise<void> {
    // What cannot be removed takes room; the service must neither end by it nor fail to start.
    await rm(this.folder, { recursive: true, force: true }).catch(() => {});
  }
}

function outcome({ tables }: EvaluationReport) {
  const [table] = tables;
  const served = table?.rows.find(({ role }) => role === 'served');
  return {
    users: table?.users ?? 0,
    'NDCG@10': served?.metrics['NDCG@10']?.mean ?? 0,
    conclusion: table?.conclusion ?? '',
  };
}
