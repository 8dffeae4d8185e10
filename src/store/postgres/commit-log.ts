import { randomInt } from 'node:crypto';
import { FurzeError } from '../../domain/errors.ts';
import type { CheckedCommand } from '../check-command.ts';
import { type Commit, decodeParts } from '../commit-effects.ts';
import type { WriteResult } from '../data-store.ts';
import type { PostgresDsn } from '../dsn.ts';
import { FEEDBACK_TYPES_MAX } from '../lmdb/format/record-layout.ts';
import type { SyncMode, WriteRules } from '../write-options.ts';
import { GroupApplier } from './apply-in-memory.ts';
import { type Connection, Link } from './connection.ts';
import type { CommitsBehind } from './follow-commits.ts';
import { GroupLoader, type GroupState } from './load-affected-rows.ts';
import { typeOf } from './packed-type-and-time.ts';
import { GroupStore, removalOf } from './write-changed-rows.ts';

/** Commits that are read at once. */
const COMMITS_MAX = 200;
/** How long commits are kept for nodes that are behind; one that is further behind copies everything anew. */
export const KEPT_HOURS = 24;
/** Marks are below this: as many as chance gives at once, all of which a double holds. */
const MARK_MAX = 2 ** 48 - 1;

type CommitRow = readonly [
  headPosition: number,
  headMark: number,
  position: number | null,
  mark: number | null,
  markBefore: number | null,
  body: Buffer | null,
];

/** What was done with each command of a group, and what all of it did; no commit where nothing changed. */
export interface GroupOutcome {
  readonly answers: readonly (WriteResult | FurzeError)[];
  readonly commit: Commit | undefined;
}

/**
 * The commits of all nodes in PostgreSQL, which is the one truth. A group of commands is one transaction. The transactions
 * of all nodes come one after another: each locks the one row of `head` first. So each has a number that follows on that of
 * the one before, and a copy that has carried out the commits up to a number shows exactly what the truth was then.
 */
export class CommitLog {
  private readonly schema: string;
  private readonly rules: WriteRules;
  private readonly begin: string;
  private readonly loader: GroupLoader;
  private readonly writing: Link;
  private readonly reading: Link;

  constructor(dsn: PostgresDsn, rules: WriteRules, sync: SyncMode) {
    this.schema = `"${dsn.schema}"`;
    this.rules = rules;
    this.loader = new GroupLoader(this.schema);
    this.writing = new Link(dsn, 'furze writing');
    this.reading = new Link(dsn, 'furze following');
    // Pairs are looked up one by one by their key, however many there are: no plan may read a whole table for them.
    this.begin = `BEGIN; SET LOCAL jit = off; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
      SET LOCAL enable_seqscan = off; SET LOCAL synchronous_commit = ${sync === 'disk' ? 'on' : 'off'}`;
  }

  /**
   * Carries out a group in one transaction; a command that is refused leaves nothing.
   * @throws Error when the group was not committed, or when it is not known whether it was
   */
  async write(commands: readonly CheckedCommand[]): Promise<GroupOutcome> {
    const connection = await this.writing.connect();
    try {
      const state = await this.loader.load(connection, this.begin, commands);
      await this.makeRoomForTypes(connection, state, commands);
      const applier = new GroupApplier(state, this.rules);
      const answers = commands.map((command) => applied(applier, command));
      const parts = applier.finish();
      if (parts.length === 0) {
        await connection.run('ROLLBACK');
        return { answers, commit: undefined };
      }
      const { position, mark: markBefore } = state.head;
      const commit = { position: position + 1, mark: randomInt(1, MARK_MAX), markBefore, parts };
      await new GroupStore(connection, this.schema).commit(state, commit);
      return { answers, commit };
    } catch (error) {
      if (connection.isOpen) await connection.run('ROLLBACK').catch(() => {});
      throw error;
    }
  }

  /** The commits behind a position in their order, and the last one of all nodes: both as of one moment. */
  async commitsAfter(position: number): Promise<CommitsBehind> {
    const connection = await this.reading.connect();
    const rows = await connection.rows<CommitRow>(
      `SELECT h.position, h.mark, c.position, c.mark, c.mark_before, c.body FROM ${this.schema}.head h LEFT JOIN LATERAL (
         SELECT position, mark, mark_before, body FROM ${this.schema}.changes
         WHERE position > $1 ORDER BY position LIMIT ${COMMITS_MAX}) c ON true
       ORDER BY c.position`,
      [position],
    );
    const [headPosition, headMark] = rows[0]!;
    const commits = rows.flatMap(([, , at, mark, markBefore, body]) =>
      at === null ? [] : [{ position: at, mark: mark!, markBefore: markBefore!, parts: decodeParts(body!) }],
    );
    return { commits, head: { position: headPosition, mark: headMark } };
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
    await connection.run(removalOf(this.schema, isUser ? 'user' : 'item', false), [row]);
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
    await Promise.all([this.writing.close(), this.reading.close()]);
  }

  /** Where feedback types would get too many, takes back the numbers of those without feedback. */
  private async makeRoomForTypes(
    connection: Connection,
    { types }: GroupState,
    commands: readonly CheckedCommand[],
  ): Promise<void> {
    const names = new Set<string>();
    for (const command of commands)
      if (command.kind === 'putFeedback') for (const each of command.feedback) names.add(each.FeedbackType);
    const fresh = [...names].filter((name) => types.find(name) === undefined);
    if (types.size + fresh.length <= FEEDBACK_TYPES_MAX) return;
    const empty = await connection.rows<[number, string]>(
      `SELECT t.type, t.name FROM ${this.schema}.types t WHERE t.type NOT IN (SELECT ${typeOf('f.type_time')} FROM ${this.schema}.feedback f)`,
    );
    const unused = empty.filter(([, name]) => !names.has(name)).map(([type]) => type);
    if (unused.length === 0) return;
    types.remove(unused);
    await connection.rows(`DELETE FROM ${this.schema}.types WHERE type = ANY($1::int2[])`, [
      `{${unused.join()}}`,
    ]);
    await connection.run(`UPDATE ${this.schema}.head SET types_version = types_version + 1`);
  }
}

function applied(applier: GroupApplier, command: CheckedCommand): WriteResult | FurzeError {
  try {
    return applier.apply(command);
  } catch (error) {
    if (error instanceof FurzeError) return error;
    throw error;
  }
}
