import { FurzeError, messageOf } from '../../domain/furze-error.ts';
import { mapInTurns } from '../../platform/concurrency/event-loop-turns.ts';
import { AppendGroups } from '../append-groups.ts';
import type { TableStats } from '../data-store.ts';
import type { PostgresDsn } from '../dsn.ts';
import {
  packShown,
  type ShownBounds,
  type ShownLog,
  type ShownRecord,
  type ShownToUser,
  USER_RECORDS_MAX,
  unpackShown,
} from '../shown-log.ts';
import { Link, pulseOf } from './connection.ts';
import { makeOnce } from './schema.ts';

/** Rows that are read or written at once: some milliseconds of the thread that serves. */
const STEP_ROWS = 250;
/** Time that the removal of what is too much may take, milliseconds: it looks at all rows. */
const UPKEEP_MS_MAX = 600_000;
/** Part of the most bytes that this node writes before it looks whether there are too many. */
const UPKEEP_SHARE = 1 / 8;
/** Bytes of a row and its entries in two indexes beside its texts, about. */
const ROW_BYTES = 120;
const BYTES = `octet_length(body) + octet_length(user_id) + ${ROW_BYTES}`;

type Values = readonly unknown[];
type Row = readonly [userId: string, timeMs: number, id: number, body: string];

/** The log in a table that nodes share. */
export class PostgresShownLog implements ShownLog {
  private readonly link: Link;
  /** A connection of its own: queries of one are answered in their order. */
  private readonly upkeep: Link;
  private readonly table: string;
  private readonly bounds: ShownBounds;
  private unlookedBytes = 0;
  private pruning: Promise<void> | undefined;
  private readonly groups = new AppendGroups<ShownRecord>((records) => this.write(records));

  private constructor(dsn: PostgresDsn, bounds: ShownBounds) {
    this.link = new Link(dsn, 'furze shown', undefined, pulseOf(dsn));
    this.upkeep = new Link(dsn, 'furze shown upkeep', UPKEEP_MS_MAX);
    this.table = `"${dsn.schema}".shown`;
    this.bounds = bounds;
  }

  /** Opens the table, and makes it where there is none. @throws DatabaseAwayError, or what the server refuses it with */
  static async open(dsn: PostgresDsn, bounds: ShownBounds): Promise<PostgresShownLog> {
    const log = new PostgresShownLog(dsn, bounds);
    const { table } = log;
    await makeOnce(
      await log.link.connect(),
      table,
      `CREATE TABLE IF NOT EXISTS ${table} (
         id bigserial PRIMARY KEY, user_id text COLLATE "C" NOT NULL, at bigint NOT NULL, body text NOT NULL);
       CREATE INDEX IF NOT EXISTS shown_user ON ${table} (user_id, at, id)`,
    );
    return log;
  }

  append(records: readonly ShownRecord[]): Promise<void> {
    return this.groups.add(records);
  }

  async forget(userId: string): Promise<void> {
    await this.groups.settled();
    await this.ask(`DELETE FROM ${this.table} WHERE user_id = $1`, [userId]);
  }

  async ofUser(userId: string, most = USER_RECORDS_MAX): Promise<readonly ShownRecord[]> {
    const rows = await this.ask<Row>(
      `SELECT user_id, at, id, body FROM ${this.table} WHERE user_id = $1 ORDER BY at DESC, id DESC LIMIT $2`,
      [userId, most],
    );
    return mapInTurns(rows.reverse(), recordOf);
  }

  async *walk(): AsyncGenerator<readonly ShownToUser[]> {
    let last: Row = ['', 0, 0, ''];
    let current: { userId: string; records: ShownRecord[] } | undefined;
    for (;;) {
      const [userId, timeMs, id] = last;
      const rows = await this.ask<Row>(
        `SELECT user_id, at, id, body FROM ${this.table} WHERE (user_id, at, id) > ($1, $2, $3)
         ORDER BY user_id, at, id LIMIT $4`,
        [userId, timeMs, id, STEP_ROWS],
      );
      const done: ShownToUser[] = [];
      for (const row of rows) {
        if (current?.userId !== row[0]) {
          if (current !== undefined) done.push(current);
          current = { userId: row[0], records: [] };
        }
        current.records.push(recordOf(row));
        if (current.records.length > USER_RECORDS_MAX) current.records.shift();
      }
      if (rows.length < STEP_ROWS && current !== undefined) done.push(current);
      if (done.length > 0) yield done;
      if (rows.length < STEP_ROWS) return;
      last = rows.at(-1)!;
    }
  }

  /** Rows as the server estimates them. */
  async getTables(): Promise<readonly TableStats[]> {
    const [sizes] = await this.ask<[number, number]>(
      `SELECT greatest(reltuples, 0)::bigint, pg_total_relation_size(oid) FROM pg_class WHERE oid = to_regclass($1)`,
      [this.table],
    );
    const [entries, bytes] = sizes!;
    return [{ name: 'shown', entries, bytes }];
  }

  async prune(nowMs: number): Promise<void> {
    const before = nowMs - this.bounds.retentionMs;
    await this.ask(`DELETE FROM ${this.table} WHERE at < $1`, [before], this.upkeep);
    await this.removeExcess();
  }

  private async removeExcess(): Promise<void> {
    this.unlookedBytes = 0;
    // Numbers tell the order of arrival.
    const last = `SELECT max(id) FROM (SELECT id, sum(${BYTES}) OVER (ORDER BY id DESC) AS bytes FROM ${this.table}) AS rows
      WHERE bytes > $1`;
    await this.ask(`DELETE FROM ${this.table} WHERE id <= (${last})`, [this.bounds.bytesMax], this.upkeep);
  }

  /** The data, which are in the same database, tell whether it is there. */
  async ping(): Promise<void> {}

  async close(): Promise<void> {
    await this.groups.settled();
    await this.pruning;
    await this.link.close();
    await this.upkeep.close();
  }

  private async write(records: readonly ShownRecord[]): Promise<void> {
    for (let from = 0; from < records.length; from += STEP_ROWS) {
      const part = records.slice(from, from + STEP_ROWS);
      const bodies = part.map(packShown);
      this.unlookedBytes += bodies.reduce((sum, body) => sum + body.length + ROW_BYTES, 0);
      await this.ask(
        `INSERT INTO ${this.table} (user_id, at, body) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])`,
        [part.map(({ userId }) => userId), part.map(({ timeMs }) => timeMs), bodies],
      );
    }
    if (this.unlookedBytes < this.bounds.bytesMax * UPKEEP_SHARE) return;
    // A failure is told by the next prune.
    this.pruning ??= this.removeExcess()
      .catch(() => {})
      .finally(() => {
        this.pruning = undefined;
      });
  }

  private async ask<T extends Values>(text: string, values: Values, link = this.link): Promise<T[]> {
    try {
      return await link.rows<T>(text, values);
    } catch (error) {
      const message = `What is shown cannot be stored or read: ${messageOf(error)}.`;
      throw new FurzeError('STORE_UNAVAILABLE', message);
    }
  }
}

function recordOf([userId, timeMs, , body]: Row): ShownRecord {
  return unpackShown(userId, timeMs, body);
}
