import { randomInt } from 'node:crypto';
import type { FurzeError } from '../../domain/furze-error.ts';
import type { CheckedCommand } from '../check-command.ts';
import { type Commit, type Effects, encodeParts } from '../commit-effects.ts';
import type { WriteResult } from '../data-store.ts';
import type { PostgresDsn } from '../dsn.ts';
import { FEEDBACK_TYPES_MAX } from '../lmdb/format/record-layout.ts';
import type { SyncMode, WriteRules } from '../write-options.ts';
import type { AffectedRows } from './affected-rows.ts';
import { AffectedRowsLoader } from './affected-rows-loader.ts';
import { changedRows } from './changed-rows.ts';
import { COMMIT_PARAMETERS, type CommitParameters, commitCallOf, removalOf } from './commit-procedure.ts';
import { Concern } from './concern.ts';
import { type Connection, Link, pulseOf } from './connection.ts';
import type { CommitsBehind } from './follow-commits.ts';
import { typeOf } from './packed-type-and-time.ts';
import type { Pulse } from './pulse.ts';
import { commitOf, commitsAfter } from './read-commits.ts';
import { RowsApplier } from './rows-applier.ts';
import type { RowsOfCopy } from './rows-of-copy.ts';
import { int4Array } from './sql-arrays.ts';
import { type AskedUsers, type StoredUsers, UserQueries } from './user-queries.ts';

/** Time that commits are kept for nodes that are behind; one that is further behind copies everything anew. */
export const KEPT_HOURS = 24;
/** Marks are below this: as many as chance gives at once, all of which a double holds. */
const MARK_MAX = 2 ** 48 - 1;

/** A copy that lacks more commits is not gone by: each that came since is looked through in the turn. */
const COPY_BEHIND_MAX = 8;

type CommitAnswer = readonly [
  position: number | null,
  markBefore: number,
  userShift: number,
  itemShift: number,
];

const PARAMETERS = Object.keys(COMMIT_PARAMETERS) as (keyof CommitParameters)[];

/** A connection by which one group after another is committed. */
interface Lane {
  readonly link: Link;
  readonly loader: AffectedRowsLoader;
}

/** Answers to the commands of a group, and their commit; no commit where nothing changed. */
export interface GroupOutcome {
  readonly answers: readonly (WriteResult | FurzeError)[];
  readonly commit: Commit | undefined;
}

/**
 * The commits of all nodes in the database. A group of commands is one transaction. The transactions of all nodes come one after
 * another: each locks the one row of `head` first, within the server (`commit-procedure.ts`). So each has a number that follows on
 * that of the one before, and a replica that has carried out the commits up to a number shows exactly what there was then.
 */
export class CommitLog {
  private readonly schema: string;
  private readonly rules: WriteRules;
  private readonly isDurable: boolean;
  private readonly call: string;
  private readonly dsn: PostgresDsn;
  /** Ways to commit that no group takes at the moment, and all of them. */
  private readonly free: Lane[] = [];
  private readonly lanes: Lane[] = [];
  /** Groups under way, in their order, with what they end with. */
  private readonly underWay = new Map<Concern, Promise<unknown>>();
  /** Whether the last group had new users, and new items. */
  private grows = { users: false, items: false };
  private readonly pulse: Pulse;
  private readonly reading: Link;
  private readonly users: UserQueries;
  private readonly copy: RowsOfCopy | undefined;
  /** The last commit of any node that this one knows of. */
  private seen = 0;

  /** @param copy this node's, as far as there is one to go by */
  constructor(dsn: PostgresDsn, rules: WriteRules, sync: SyncMode, copy?: RowsOfCopy) {
    this.copy = copy;
    this.schema = `"${dsn.schema}"`;
    this.rules = rules;
    this.dsn = dsn;
    this.users = new UserQueries(this.schema);
    this.call = commitCallOf(this.schema);
    this.isDurable = sync === 'disk';
    this.pulse = pulseOf(dsn);
    this.reading = new Link(dsn, 'furze following', undefined, this.pulse);
  }

  /**
   * Carries out a group in one transaction; a command that is refused leaves nothing. What it goes by is read without a lock, and
   * what of it another commit touched that came between is read again. Groups that are given at the same time are under way at the same
   * time, those behind others whose order matters.
   * @throws Error when the group was not committed, or when it is not known whether it was
   */
  async write(commands: readonly CheckedCommand[]): Promise<GroupOutcome> {
    const concern = new Concern(commands);
    const before = [...this.underWay].flatMap(([other, end]) =>
      other.clashesWith(concern, this.grows) ? [end] : [],
    );
    const lane = this.free.pop() ?? this.newLane();
    const done = Promise.allSettled(before).then(() => this.writeBy(lane, commands, concern));
    this.underWay.set(concern, done);
    try {
      return await done;
    } finally {
      this.underWay.delete(concern);
      this.free.push(lane);
    }
  }

  private newLane(): Lane {
    const lane = {
      link: new Link(this.dsn, 'furze writing', undefined, this.pulse),
      loader: new AffectedRowsLoader(this.schema),
    };
    this.lanes.push(lane);
    return lane;
  }

  private async writeBy(
    { link, loader }: Lane,
    commands: readonly CheckedCommand[],
    concern: Concern,
  ): Promise<GroupOutcome> {
    const connection = await link.connect();
    const types = loader.types.latest(connection);
    const here = types && this.copy?.load(concern, types, this.seen - COPY_BEHIND_MAX);
    for (let read = here ?? (await loader.load(connection, concern)); ; ) {
      concern.goneTypes.clear();
      const state = await loader.stateOf(connection, read);
      await this.makeRoomForTypes(connection, state, concern);
      const applier = new RowsApplier(state, this.rules);
      const answers = commands.map((command) => applier.apply(command));
      if (applier.parts.length === 0) return { answers, commit: undefined };
      const commit = await this.commit(connection, state, concern, applier.parts);
      if (commit !== undefined) return { answers, commit };
      read = await loader.loadAgain(connection, concern, read);
    }
  }

  /** @returns undefined when what was read is old by now, and nothing was changed */
  private async commit(
    connection: Connection,
    state: AffectedRows,
    concern: Concern,
    parts: readonly Effects[],
  ): Promise<Commit | undefined> {
    const { concerned, touched } = concern.keys(parts);
    const mark = randomInt(1, MARK_MAX);
    const rows = changedRows(state);
    const body = Buffer.from(encodeParts(parts));
    const given: CommitParameters = {
      readPosition: state.head.position,
      readMark: state.head.mark,
      readTypesVersion: state.typesVersion,
      newMark: mark,
      isDurable: this.isDurable,
      concerned: int4Array(concerned),
      touched: int4Array(touched),
      body,
      ...rows,
    };
    const [answer] = await connection.rows<CommitAnswer>(
      this.call,
      PARAMETERS.map((name) => given[name]),
    );
    const [position, markBefore, userShift, itemShift] = answer!;
    if (position === null) return undefined;
    this.seen = Math.max(this.seen, position);
    this.grows = { users: rows.newUsers > 0, items: rows.newItems > 0 };
    const { users: userBase, items: itemBase } = state.storedRows;
    return commitOf({ position, mark, markBefore }, body, { userBase, userShift, itemBase, itemShift });
  }

  /** See `commitsAfter`. */
  async commitsAfter(position: number): Promise<CommitsBehind> {
    const found = await commitsAfter(this.reading, this.schema, position);
    this.seen = Math.max(this.seen, found.head.position);
    return found;
  }

  /** Users with all their feedback, and as of which commit. */
  async readUsers({ ids, rows }: AskedUsers): Promise<StoredUsers> {
    return this.users.load(await this.reading.connect(), ids, rows);
  }

  /**
   * Goes on with the removal of what users and items left behind.
   * @returns whether there may be more
   */
  async removeSome(): Promise<boolean> {
    const connection = await this.reading.connect();
    const [next] = await connection.rows<[number, boolean]>(
      `SELECT row, is_user FROM ${this.schema}.removals LIMIT 1`,
    );
    if (next === undefined) return false;
    const [row, isUser] = next;
    await connection.run(removalOf(this.schema, isUser ? 'user' : 'item', '$1::int4', false), [row]);
    return true;
  }

  /**
   * Removes commits that nobody is to follow any more: all before the first one that is young. Commits say when they began, not
   * when their turn came, so an old one may stand behind it; what is kept has no gaps all the same.
   */
  async forgetOld(): Promise<void> {
    const connection = await this.reading.connect();
    await connection.run(
      `DELETE FROM ${this.schema}.changes WHERE position < coalesce(
         (SELECT position FROM ${this.schema}.changes WHERE at >= now() - interval '${KEPT_HOURS} hours' ORDER BY position LIMIT 1),
         (SELECT position + 1 FROM ${this.schema}.head))`,
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.reading, ...this.lanes.map(({ link }) => link)].map((link) => link.close()));
  }

  /** Where feedback types would get too many, takes back the numbers of those without feedback, which no lock waits for. */
  private async makeRoomForTypes(
    connection: Connection,
    { types, goneTypes }: AffectedRows,
    { types: names, goneTypes: goneNames }: Concern,
  ): Promise<void> {
    const fresh = [...names].filter((name) => types.numberOf(name) === undefined);
    if (types.size + fresh.length <= FEEDBACK_TYPES_MAX) return;
    const empty = await connection.rows<[number, string]>(
      `SELECT t.type, t.name FROM ${this.schema}.types t WHERE t.type NOT IN (SELECT ${typeOf('f.type_time')} FROM ${this.schema}.feedback f)`,
    );
    for (const [type, name] of empty) {
      if (names.has(name)) continue;
      goneTypes.push(type);
      goneNames.add(name);
    }
    types.remove(goneTypes);
  }
}
