import type { RunningTask, TaskList } from '../background/tasks/task-list.ts';
import type { ImportReport } from '../domain/admin-schemas.ts';

/** An import of which nothing is heard for this long was cut off, milliseconds. */
const SILENCE_MS = 60_000;
/** Imports under way that are told apart; those beyond are not shown. */
const IMPORTS_MAX = 32;

interface Import {
  readonly task: RunningTask;
  timer: NodeJS.Timeout | undefined;
}

/** Imports under way, as those who send them tell: the page, and the command line. They stand among the tasks. */
export class ImportTasks {
  private readonly tasks: TaskList;
  private readonly silenceMs: number;
  private readonly running = new Map<string, Import>();

  constructor(tasks: TaskList, silenceMs = SILENCE_MS) {
    this.tasks = tasks;
    this.silenceMs = silenceMs;
  }

  /** Progress of an import, or its result. @param id made up by who sends it, another for each file */
  tell(id: string, report: ImportReport): void {
    const one = this.running.get(id) ?? this.begin(id);
    if (one === undefined) return;
    clearTimeout(one.timer);
    const { File: file, Kind: kind, State, Done, Total, Written: written, Refused: refused } = report;
    if (State === 'running') {
      one.task.tell(`${kind} of ${file}, bytes`, Done, Total);
      one.timer = this.watch(id, one);
      return;
    }
    this.running.delete(id);
    if (State === 'done') one.task.done({ file, [`${kind} written`]: written, refused });
    else one.task.failed(new Error(report.Error ?? 'The import failed.'));
  }

  /** Forgets those under way: the service ends. */
  stop(): void {
    for (const { timer, task } of this.running.values()) {
      clearTimeout(timer);
      task.stopped();
    }
    this.running.clear();
  }

  private begin(id: string): Import | undefined {
    if (this.running.size >= IMPORTS_MAX) return undefined;
    const one: Import = { task: this.tasks.begin('import'), timer: undefined };
    this.running.set(id, one);
    return one;
  }

  private watch(id: string, { task }: Import): NodeJS.Timeout {
    return setTimeout(() => {
      this.running.delete(id);
      task.failed(new Error('Nothing more was heard of it; what was sent before is stored.'));
    }, this.silenceMs).unref();
  }
}
