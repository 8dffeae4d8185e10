import { FurzeError, isEngineError } from '../../../domain/furze-error.ts';
import { mayRemove } from '../../check-command.ts';
import type { Effects, Point } from '../../commit-effects.ts';
import { ChangeLog } from '../changes/change-log.ts';
import type { DataTables } from '../tables/data-tables.ts';
import type { PlainChanges, Write, WriteAnswer, WriteRules } from '../tables/writer-messages.ts';
import { answerOf, type CheckedWrite, checkWrites, refusal } from './check-writes.ts';
import { probeDisk } from './full-disk.ts';
import type { Group } from './group-commit.ts';
import { isFinal, OwnTransactions, type Written } from './own-transactions.ts';
import { TablesApplier } from './tables-applier.ts';

/** Writes groups of commands, each group in one transaction. */
export class GroupWriter {
  private readonly tables: DataTables;
  private readonly rules: WriteRules;
  private own: OwnTransactions;
  private readonly begunDeletions = new Set<number>();
  private applier: TablesApplier;
  private failure: unknown;

  constructor(tables: DataTables, rules: WriteRules) {
    this.tables = tables;
    this.rules = rules;
    this.own = new OwnTransactions(tables.engine);
    this.applier = this.newApplier();
  }

  /**
   * Checks every command, and applies those that pass in their order. A command that is refused leaves nothing; one
   * that fails for a reason nobody foresaw undoes the transaction, and the others are written again without it.
   * @throws ForeignTransactionError when somebody else has written; nothing of the group is
   * @throws UnflushedError when the disk does not keep what was written
   */
  write(writes: readonly Write[]): Group {
    const { checked, answers } = checkWrites(writes, this.rules);
    this.failure = undefined;
    const changes = this.writeChecked(checked, answers);
    return { answers, changes, failure: this.failure, nextTransaction: this.nextTransaction };
  }

  /** The tables are those of another file with the same content. */
  renew(): void {
    this.own = new OwnTransactions(this.tables.engine);
    this.applier = this.newApplier();
  }

  /** True while `slice` has something to do. */
  get hasSlices(): boolean {
    return this.applier.hasDeletions;
  }

  /** Carries on with a deletion that takes many transactions. @throws ForeignTransactionError, UnflushedError */
  slice(): Group {
    const log = new ChangeLog();
    let failure: unknown;
    try {
      this.change(() => {
        this.applier.continueDeletion(log);
        this.applier.finish([log]);
      });
    } catch (error) {
      if (!isEngineError(error)) throw error;
      this.applier = this.newApplier();
      failure = error;
    }
    const changes =
      failure === undefined && !log.isEmpty ? [log.toPlain([...this.applier.feedbackTypes], false)] : [];
    return { answers: [], changes, failure, nextTransaction: this.nextTransaction };
  }

  /** Number of the next transaction that changes anything. */
  get nextTransaction(): number {
    return this.own.nextId;
  }

  /** Throws while a store that has failed to write still cannot write as much. */
  probe(bytes: number): void {
    probeDisk(this.tables, bytes, (action) => this.change(action));
  }

  /**
   * Carries out commits of elsewhere, at least one, in their order and in one transaction.
   * @throws Error when it cannot be; nothing of it is then
   */
  replicate(commits: readonly (Point & { readonly parts: readonly Effects[] })[]): Group {
    const logs: ChangeLog[] = [];
    const { typesVersion } = this.applier;
    try {
      this.change(() => {
        for (const part of joined(commits.flatMap(({ parts }) => parts))) {
          const log = new ChangeLog();
          this.applier.replicate(part, log);
          if (!log.isEmpty) logs.push(log);
        }
        this.applier.finish(logs);
        const { position, mark } = commits.at(-1)!;
        this.applier.notePoint({ position, mark });
      });
    } catch (error) {
      this.applier = this.newApplier();
      throw error;
    }
    const changes = this.toPlain(logs, typesVersion);
    return { answers: [], changes, failure: undefined, nextTransaction: this.nextTransaction };
  }

  private writeChecked(writes: readonly CheckedWrite[], answers: WriteAnswer[]): PlainChanges[] {
    if (writes.length === 0) return [];
    try {
      const { typesVersion } = this.applier;
      const done = this.own.transact(() => this.applyAll(writes));
      answers.push(...done.answers);
      return this.toPlain(done.logs, typesVersion);
    } catch (error) {
      if (isFinal(error)) throw error;
      this.applier = this.newApplier();
      if (isEngineError(error)) this.failure = error;
      if (writes.length === 1) {
        answers.push(refusal(writes[0]!, error));
        return [];
      }
      return writes.flatMap((write) => this.writeChecked([write], answers));
    }
  }

  /** One that knows what there is now. */
  private newApplier(): TablesApplier {
    return new TablesApplier(this.tables, this.rules, this.begunDeletions);
  }

  /** Runs in a transaction of its own what changes something in any case. */
  private change(action: () => void): void {
    this.own.transact(() => {
      action();
      return { result: undefined, hasWritten: true };
    });
  }

  /** @param typesVersion that of before the transaction */
  private toPlain(logs: readonly ChangeLog[], typesVersion: number): PlainChanges[] {
    const names = [...this.applier.feedbackTypes];
    const renumbersTypes = this.applier.typesVersion !== typesVersion;
    return logs.map((log) => log.toPlain(names, renumbersTypes));
  }

  /**
   * Additions of several commands share a change log; a command that takes something away starts its own, so that a
   * listener that handles removals first is right.
   */
  private applyAll(writes: readonly CheckedWrite[]): Written<{ answers: WriteAnswer[]; logs: ChangeLog[] }> {
    const answers: WriteAnswer[] = [];
    const logs: ChangeLog[] = [];
    let log = new ChangeLog();
    for (const { ticket, command } of writes) {
      if (mayRemove(command, this.rules) || log.hasRemovals) {
        if (!log.isEmpty) logs.push(log);
        log = new ChangeLog();
      }
      try {
        answers.push(answerOf(ticket, this.applier.apply(command, log)));
      } catch (error) {
        if (!(error instanceof FurzeError)) throw error;
        answers.push(answerOf(ticket, error));
      }
    }
    if (!log.isEmpty) logs.push(log);
    const hasWritten = answers.some(({ result }) => result !== undefined);
    if (hasWritten) this.applier.finish(logs);
    return { result: { answers, logs }, hasWritten };
  }
}

/**
 * The same effects in fewer parts: one that deletes no user and no item joins the part before. What is left of a
 * record that several write is what the last one did, and that alone is told.
 */
function joined(parts: readonly Effects[]): readonly Effects[] {
  const courses: Effects[][] = [];
  for (const part of parts) {
    const course = courses.at(-1);
    if (course === undefined || part.deletedUserIds.length + part.deletedItemIds.length > 0)
      courses.push([part]);
    else course.push(part);
  }
  return courses.map((course) =>
    course.length === 1
      ? course[0]!
      : {
          ...course[0]!,
          users: course.flatMap(({ users }) => users),
          items: course.flatMap(({ items }) => items),
          feedback: course.flatMap(({ feedback }) => [...feedback]),
          journals: course.flatMap(({ journals }) => journals),
          vectors: course.flatMap(({ vectors = [] }) => vectors),
        },
  );
}
