import { setTimeout as sleep } from 'node:timers/promises';
import { FurzeError, isEngineError, messageOf } from '../../domain/furze-error.ts';
import type { Commit, Point } from '../commit-effects.ts';
import type { FromWriter, Write, WriteAnswer, WriteRules } from '../lmdb/tables/writer-messages.ts';
import { answerOf, type CheckedWrite, checkWrites, refusal, traceOf } from '../lmdb/writer/check-writes.ts';
import { type Group, takeGroup } from '../lmdb/writer/group-commit.ts';
import type { LoopMessage } from '../lmdb/writer/writer-loop.ts';
import { type CannotFollowError, cannotFollow } from './cannot-follow-error.ts';
import type { CommitLog, GroupOutcome } from './commit-log.ts';
import { isAway } from './database-away-error.ts';
import { isAtHead, nextCommits } from './follow-commits.ts';
import { UserLoads, type UserLoadsParts } from './user-loads.ts';

/** The commits that the replica follows. */
type Followed = Pick<CommitLog, 'write' | 'commitsAfter' | 'removeSome' | 'forgetOld'>;

/** The replica in the folder, as the loop drives it. */
export interface Replica {
  /** Carries out commits in one transaction. @throws Error when they cannot be written; nothing of them is then */
  replicate(commits: readonly Commit[]): Group;
  /** True while `slice` has something to do. */
  readonly hasSlices: boolean;
  /** Does a part of a removal that takes many transactions. */
  slice(): Group;
  readonly nextTransaction: number;
}

export interface ReplicaLoopParts {
  readonly commitLog: Followed;
  readonly replica: Replica;
  /** Has the next start copy everything anew. */
  readonly forsake: () => void;
  readonly rules: WriteRules;
  /** The commit up to which the replica shows all. */
  readonly point: Point;
  readonly post: (message: FromWriter) => void;
  readonly close: () => Promise<void>;
  /** True where each read waits until the replica shows what was answered before it, so that no write need wait for it. */
  readonly readsWait?: boolean;
  /** Of a replica that holds users once they are asked for: how they are read. */
  readonly users?: Pick<UserLoadsParts, 'copy' | 'read'> | undefined;
}

/** Groups that are under way at the same time: the next is read and committed while the answer to one is on its way. */
const GROUPS_MAX = 2;
/** Bytes of commands from which on no further one joins a group: the more pairs it has, the oftener another node has touched one meanwhile. */
const GROUP_BYTES_MAX = 64 * 1024;
/** Period of the look for other nodes' commits when nobody asks for them, and where all who read do, milliseconds. */
const POLL_MS = 100;
const LAZY_POLL_MS = 500;
/** Pause before a database that is away, or a disk that is full, is tried again. */
const RETRY_MS = 500;
/** Period of the removal of leftovers from the database. */
const TIDY_MS = 5000;
const FORGET_MS = 600_000;

const AWAY =
  'The data store takes no writes at the moment. What waited for its answer may be stored: send it again, which changes nothing then.';

/**
 * Writes to the database, and carries out in the replica what it and all other nodes have written, in the order of the database. A write
 * is answered when the replica shows it, or where reads wait for that, so a client finds it with its next read.
 */
export class ReplicaLoop {
  private readonly parts: ReplicaLoopParts;
  private readonly waiting: Write[] = [];
  private readonly loads: UserLoads | undefined;
  private point: Point;
  private readonly underWay = new Set<readonly Write[]>();
  private isSlicing = false;
  private following: Promise<void> | undefined;
  private followAgain = false;
  /** The process that has the replica open takes in the changes; before that is so, the replica stays as it is. */
  private mayFollow = false;
  private readonly timers: NodeJS.Timeout[] = [];
  private closing = false;
  private isEnding = false;
  private isClosed = false;
  private hasFailed = false;
  private problem: string | undefined;

  constructor(parts: ReplicaLoopParts) {
    this.parts = parts;
    this.point = parts.point;
    const { users, post } = parts;
    this.loads = users && new UserLoads({ ...users, post, reach: (position) => this.catchUp(position) });
  }

  start(): void {
    this.every(this.parts.readsWait ? LAZY_POLL_MS : POLL_MS, async () => {
      if (this.mayFollow) await this.follow();
    });
    this.every(TIDY_MS, () => this.parts.commitLog.removeSome());
    this.every(FORGET_MS, () => this.parts.commitLog.forgetOld());
    this.parts.post(this.progress());
    this.doSlices();
  }

  receive(message: LoopMessage): void {
    if (this.isEnding) return;
    if (message.kind === 'close') this.closing = true;
    else if (message.kind === 'write') this.waiting.push(message);
    else if (message.kind === 'load') this.loads?.add(message);
    else {
      this.mayFollow = true;
      void this.follow();
    }
    // Messages that came in the same turn are delivered before this runs, and make one group.
    if (this.mayBegin) setImmediate(() => this.write());
  }

  /**
   * Ends in order after a fault of this program: a thread torn down in the middle of what it does takes the process, and so
   * the reads, with it.
   */
  async end(error: unknown): Promise<void> {
    if (this.isEnding) return;
    this.isEnding = true;
    this.closing = true;
    const isFinal = this.hasFailed;
    this.hasFailed = true;
    for (const timer of this.timers) clearInterval(timer);
    this.parts.post({ kind: 'failed', reason: messageOf(error), trace: traceOf(error), isFinal });
    await this.parts.close();
  }

  /** A group begins beside another once as many writes wait as that has: smaller ones cost more a write. */
  private get mayBegin(): boolean {
    const [first] = this.underWay;
    return first === undefined || (this.underWay.size < GROUPS_MAX && this.waiting.length >= first.length);
  }

  private write(): void {
    while (this.waiting.length > 0 && this.mayBegin) {
      const group = takeGroup(this.waiting, GROUP_BYTES_MAX);
      this.underWay.add(group);
      this.carryOut(group)
        .catch((error) => this.end(error))
        .finally(() => {
          this.underWay.delete(group);
          setImmediate(() => this.write());
        });
    }
    const isDone = this.waiting.length + this.underWay.size === 0;
    if (!isDone || !this.closing || this.isEnding || this.isClosed) return;
    this.isClosed = true;
    this.close().catch((error) => this.end(error));
  }

  private async carryOut(writes: readonly Write[]): Promise<void> {
    const { post, rules } = this.parts;
    const { checked, answers } = checkWrites(writes, rules);
    if (checked.length > 0) answers.push(...(await this.commit(checked)));
    post({ ...this.progress(), answers });
  }

  private async commit(writes: readonly CheckedWrite[]): Promise<WriteAnswer[]> {
    let outcome: GroupOutcome;
    const known = this.point;
    try {
      outcome = await this.parts.commitLog.write(writes.map(({ command }) => command));
      const { commit } = outcome;
      if (commit !== undefined && commit.position <= known.position)
        this.forsake(cannotFollow(known, commit.position, commit));
      this.noteProblem(undefined);
      if (outcome.commit !== undefined) await this.reach(outcome.commit);
    } catch (error) {
      if (isAway(error) || this.hasFailed) {
        this.noteProblem(error);
        return writes.map(({ ticket }) => answerOf(ticket, new FurzeError('STORE_UNAVAILABLE', AWAY)));
      }
      if (writes.length === 1) return [refusal(writes[0]!, error)];
      // One that fails for a reason of its own does not take the others along.
      const answers: WriteAnswer[] = [];
      for (const write of writes) answers.push(...(await this.commit([write])));
      return answers;
    }
    return outcome.answers.map((answer, at) => answerOf(writes[at]!.ticket, answer));
  }

  /** Carries out a commit of this node, and before it those of others that the replica lacks. */
  private async reach(commit: Commit): Promise<void> {
    if (this.position < commit.position - 1) {
      // It comes with those of others before it when somebody reads, or with the next look: many at once cost less.
      if (this.parts.readsWait) return;
      await this.catchUp(commit.position - 1);
    }
    await this.carry([commit]);
  }

  /** Has the next start copy everything anew, and ends this loop. */
  private forsake(reason: CannotFollowError): never {
    if (!this.hasFailed) this.parts.forsake();
    return this.fail(reason);
  }

  /** Runs a check of what the database tells; where it fails, there is nothing more to follow. */
  private checked<T>(check: () => T): T {
    try {
      return check();
    } catch (error) {
      return this.forsake(error as CannotFollowError);
    }
  }

  /** Looks for commits of other nodes; a call during another has it look once more. */
  private follow(): Promise<void> {
    this.followAgain = true;
    this.following ??= this.followOnce().finally(() => {
      this.following = undefined;
    });
    return this.following;
  }

  private async followOnce(): Promise<void> {
    while (this.followAgain && !this.hasFailed) {
      this.followAgain = false;
      try {
        await this.catchUp(Number.POSITIVE_INFINITY);
        this.noteProblem(undefined);
      } catch (error) {
        this.noteProblem(error);
        await sleep(RETRY_MS);
      }
    }
  }

  /** Carries out what others have committed, at least up to a commit that there is. */
  private async catchUp(until: number): Promise<void> {
    while (this.position < until) {
      const asked = this.point;
      const behind = await this.parts.commitLog.commitsAfter(asked.position);
      // Others were carried out while the database was asked.
      if (this.point !== asked) continue;
      if (this.checked(() => isAtHead(asked, behind))) return;
      await this.carry(behind.commits);
      // What came since then has the caller look once more.
      if (this.position >= behind.head.position) return;
    }
  }

  /** Carries out the commits that follow, as often as it takes; those that were carried out meanwhile are not done again. */
  private async carry(commits: readonly Commit[]): Promise<void> {
    const { replica, post } = this.parts;
    for (;;) {
      const next = this.checked(() => nextCommits(this.point, commits));
      const last = next.at(-1);
      if (last === undefined) return;
      if (this.isEnding) throw new Error('the thread ends');
      try {
        const { changes, nextTransaction, forgotten } = replica.replicate(next);
        const { position, mark } = last;
        this.point = { position, mark };
        post({ kind: 'committed', answers: [], changes, nextTransaction, position, forgotten });
        this.doSlices();
      } catch (error) {
        if (!isEngineError(error)) return this.fail(error);
        // The next start catches up.
        if (this.closing) throw error;
        this.noteProblem(error);
        await sleep(RETRY_MS);
      }
    }
  }

  /** Removals in the replica that take many transactions, one after another in turns. */
  private doSlices(): void {
    const { replica, post } = this.parts;
    if (this.isSlicing || this.closing || this.hasFailed || !replica.hasSlices) return;
    // Each commit asks for it: one course of slices at a time.
    this.isSlicing = true;
    const next = () => {
      this.isSlicing = false;
      this.doSlices();
    };
    setImmediate(() => {
      if (this.closing || !replica.hasSlices) return next();
      const { failure, changes, nextTransaction, forgotten } = replica.slice();
      post({ kind: 'committed', answers: [], changes, nextTransaction, position: this.position, forgotten });
      if (failure === undefined) next();
      else setTimeout(next, RETRY_MS).unref();
    });
  }

  private get position(): number {
    return this.point.position;
  }

  private progress(): Extract<FromWriter, { kind: 'committed' }> {
    const { nextTransaction } = this.parts.replica;
    return { kind: 'committed', answers: [], changes: [], nextTransaction, position: this.position };
  }

  /** Says once what is wrong, and once that it no longer is. */
  private noteProblem(error: unknown): void {
    const problem =
      error === undefined ? undefined : `The data store cannot be reached or written: ${messageOf(error)}.`;
    if (problem === this.problem || this.closing) return;
    this.problem = problem;
    this.parts.post({ kind: 'problem', problem, trace: error === undefined ? undefined : traceOf(error) });
  }

  /** The replica cannot follow any more; a start makes a new one. */
  private fail(error: unknown): never {
    if (!this.hasFailed) {
      this.hasFailed = true;
      this.parts.post({ kind: 'failed', reason: messageOf(error), trace: traceOf(error), isFinal: true });
    }
    throw error;
  }

  private every(ms: number, work: () => Promise<unknown>): void {
    let isBusy = false;
    const timer = setInterval(async () => {
      if (isBusy || this.closing || this.hasFailed) return;
      isBusy = true;
      await work().catch(() => {});
      isBusy = false;
    }, ms);
    this.timers.push(timer);
  }

  private async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await this.following;
    this.parts.post({ kind: 'closed' });
    await this.parts.close();
  }
}
