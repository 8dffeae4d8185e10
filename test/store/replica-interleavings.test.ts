import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Commit, Point } from '../../src/store/commit-effects.ts';
import type { FromWriter } from '../../src/store/lmdb/tables/writer-messages.ts';
import { ReplicaLoop } from '../../src/store/postgres/replica-loop.ts';
import { PLAIN_RULES } from './helpers.ts';

const NOTHING_YET: Point = { position: 0, mark: 0 };
/** Commits that one answer has at most, so that a replica asks several times. */
const ANSWERED_MAX = 3;

/** Turns of the event loop in which a replica can take in all commits there are, several times over. */
const TURNS_TO_THE_END = 300;

/** The database: all commits of its history, the first ones of which are not kept. */
class FakeDatabase {
  private readonly waitTurns: () => Promise<void>;
  history: Commit[] = [];
  private keptFrom = 1;
  private marks = 0;

  constructor(waitTurns: () => Promise<void>) {
    this.waitTurns = waitTurns;
  }

  get head(): Point {
    return this.history.at(-1) ?? NOTHING_YET;
  }

  commit(): Commit {
    const { position, mark } = this.head;
    const commit = { position: position + 1, mark: ++this.marks, markBefore: mark, parts: [] };
    this.history.push(commit);
    return commit;
  }

  /** Forgets all but some of the last commits. */
  prune(kept: number): void {
    this.keptFrom = Math.max(this.keptFrom, this.head.position + 1 - kept);
  }

  /** Goes on from what a standby has that was behind. */
  failOver(lost: number): void {
    this.history = this.history.slice(0, Math.max(0, this.history.length - lost));
  }

  async write() {
    await this.waitTurns();
    const commit = this.commit();
    await this.waitTurns();
    return { answers: [{ rowAffected: 1, removed: [] }], commit };
  }

  async commitsAfter(position: number) {
    await this.waitTurns();
    const kept = this.history.filter((each) => each.position > position && each.position >= this.keptFrom);
    const answer = { commits: kept.slice(0, ANSWERED_MAX), head: this.head };
    await this.waitTurns();
    return answer;
  }

  removeSome = async () => false;
  forgetOld = async () => {};
}

/** What a replica shows, by the marks of its commits; it is copied anew where it cannot follow. */
class FakeNode {
  private readonly database: FakeDatabase;
  private readonly readsWait: boolean;
  shown: number[];
  private loop: ReplicaLoop;
  private isForsaken = false;
  hasFailed = false;

  constructor(database: FakeDatabase, readsWait: boolean) {
    this.database = database;
    this.readsWait = readsWait;
    this.shown = database.history.map(({ mark }) => mark);
    this.loop = this.openLoop();
  }

  follow(): void {
    this.loop.receive({ kind: 'follow' });
  }

  write(): void {
    this.loop.receive({
      kind: 'write',
      ticket: 1,
      nowMs: 0,
      command: { kind: 'deleteUser', userId: 'u' },
    });
  }

  /** Starts again after a failure, as the service does. */
  restart(): void {
    if (this.isForsaken) this.shown = this.database.history.map(({ mark }) => mark);
    this.isForsaken = false;
    this.hasFailed = false;
    this.loop = this.openLoop();
  }

  private openLoop(): ReplicaLoop {
    const group = { failure: undefined, changes: [], nextTransaction: 0, answers: [] };
    const loop: ReplicaLoop = new ReplicaLoop({
      rules: PLAIN_RULES,
      point: { position: this.shown.length, mark: this.shown.at(-1) ?? 0 },
      post: (message: FromWriter) => {
        if (message.kind === 'failed' && loop === this.loop) this.hasFailed = true;
      },
      close: async () => {},
      commitLog: this.database,
      readsWait: this.readsWait,
      forsake: () => {
        this.isForsaken = true;
      },
      replica: {
        replicate: (commits) => {
          if (loop === this.loop) this.shown.push(...commits.map(({ mark }) => mark));
          return group;
        },
        slice: () => group,
        hasSlices: false,
        nextTransaction: 0,
      },
    });
    return loop;
  }
}

const event = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'commit' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'write' as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: 'follow' as const }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('turns' as const), count: fc.nat(12) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('prune' as const), kept: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail over' as const), lost: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

test('a replica ends with the history of the database, or says that it cannot follow', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: 1, maxLength: 40 }),
      fc.infiniteStream(fc.nat(2)),
      fc.boolean(),
      async (events, waits, readsWait) => {
        const database = new FakeDatabase(async () => {
          const turns = waits.next().value ?? 0;
          for (let turn = 0; turn < turns; turn++) await nextTurn();
        });
        const node = new FakeNode(database, readsWait);
        for (const each of events) {
          if (each.kind === 'commit') database.commit();
          if (each.kind === 'write') node.write();
          if (each.kind === 'follow') node.follow();
          if (each.kind === 'prune') database.prune(each.kept);
          if (each.kind === 'fail over') database.failOver(each.lost);
          if (each.kind === 'restart' && node.hasFailed) node.restart();
          if (each.kind === 'turns') for (let turn = 0; turn < each.count; turn++) await nextTurn();
        }
        for (let turn = 0; turn < TURNS_TO_THE_END; turn++) {
          if (node.hasFailed) node.restart();
          node.follow();
          await nextTurn();
        }
        expect(node.shown).toEqual(database.history.map(({ mark }) => mark));
      },
    ),
    { numRuns: 400, seed: 24 },
  );
});
