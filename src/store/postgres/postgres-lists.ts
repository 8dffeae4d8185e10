import type { PostgresDsn } from '../dsn.ts';
import type { PackedList, SharedLists, SharedPlace, SharedStats } from '../shared/shared-lists.ts';
import { type Connection, Link } from './connection.ts';
import { makeOnce } from './schema.ts';
import { int4Array } from './sql-arrays.ts';

/** Period of the removal of expired lists, milliseconds. */
const SWEEP_MS = 600_000;
/** So many at once, so that no sweep holds what others wait for. */
const SWEEP_ROWS = 1000;
/** Pages of the table whose lists stand for all; all of them are counted where there are no more. */
const COUNTED_PAGES = 1000;

/**
 * Lists in PostgreSQL, for sites that have no Redis: a table that is not logged, so nothing of it is written twice, and
 * empty after a crash of the server.
 */
export class PostgresLists implements SharedLists {
  private readonly dsn: PostgresDsn;
  private readonly place: SharedPlace;
  private readonly table: string;
  private link: Link;
  private isMade = false;
  private sweptAt = Number.NEGATIVE_INFINITY;
  /** For what takes long, so that no answer waits for it. */
  private readonly aside: Link;

  constructor(dsn: PostgresDsn, place: SharedPlace) {
    this.dsn = dsn;
    this.place = place;
    this.table = `"${dsn.schema}".cached_lists`;
    this.link = new Link(dsn, 'furze lists');
    this.aside = new Link(dsn, 'furze lists aside');
  }

  async get(userRows: readonly number[]): Promise<readonly (Uint8Array | undefined)[]> {
    const connection = await this.connect();
    const rows = await connection.rows<[number, Buffer]>(
      `SELECT user_row, list FROM ${this.table} WHERE tag = $1 AND user_row = ANY($2::int4[]) AND expires > now()`,
      [this.place.tag, int4Array(userRows)],
    );
    const found = new Map(rows);
    return userRows.map((row) => found.get(row));
  }

  async change(lists: readonly PackedList[], removed: readonly number[]): Promise<void> {
    const connection = await this.connect();
    const { tag, ttlMs } = this.place;
    // In one order on all nodes, so that none waits for another in a circle.
    const sorted = [...lists].sort(([a], [b]) => a - b);
    if (sorted.length > 0)
      await connection.run(
        `INSERT INTO ${this.table} (tag, user_row, expires, list)
         SELECT $1, n.u, now() + $2 * interval '1 millisecond', n.l FROM unnest($3::int4[], $4::bytea[]) AS n (u, l)
         ON CONFLICT (tag, user_row) DO UPDATE SET expires = excluded.expires, list = excluded.list`,
        [tag, ttlMs, int4Array(sorted.map(([row]) => row)), sorted.map(([, bytes]) => Buffer.from(bytes))],
      );
    if (removed.length > 0)
      await connection.run(
        `DELETE FROM ${this.table} WHERE tag = $1 AND user_row IN (
           SELECT user_row FROM ${this.table} WHERE tag = $1 AND user_row = ANY($2::int4[]) ORDER BY user_row FOR UPDATE)`,
        [tag, int4Array(removed)],
      );
    this.sweepInTime();
  }

  async getStats(): Promise<SharedStats> {
    await this.connect();
    const [size] = await this.aside.rows<[number, number]>(
      `SELECT pg_relation_size('${this.table}') / current_setting('block_size')::int, pg_total_relation_size('${this.table}')`,
    );
    const [pages, bytes] = size!;
    const percent = Math.min(100, (100 * COUNTED_PAGES) / Math.max(1, pages));
    const [seen] = await this.aside.rows<[number, number]>(
      `SELECT count(*) FILTER (WHERE tag = $1), count(*) FROM ${this.table} TABLESAMPLE SYSTEM ($2)`,
      [this.place.tag, percent],
    );
    const [own, every] = seen!;
    return {
      lists: Math.round((own * 100) / percent),
      bytes: Math.round((bytes * own) / Math.max(1, every)),
    };
  }

  async ping(): Promise<void> {
    const connection = await this.connect();
    await connection.run('SELECT 1');
  }

  reset(): void {
    void this.link.close();
    this.isMade = false;
    this.link = new Link(this.dsn, 'furze lists');
  }

  async close(): Promise<void> {
    this.sweptAt = Number.POSITIVE_INFINITY;
    await Promise.all([this.link.close(), this.aside.close()]);
  }

  private async connect(): Promise<Connection> {
    const connection = await this.link.connect();
    if (!this.isMade) await this.makeTable(connection);
    return connection;
  }

  private async makeTable(connection: Connection): Promise<void> {
    const { table } = this;
    const schema = `"${this.dsn.schema}"`;
    await makeOnce(
      connection,
      `${schema}.cached_lists_expires`,
      `CREATE SCHEMA IF NOT EXISTS ${schema};
       CREATE UNLOGGED TABLE IF NOT EXISTS ${table} (
         tag text COLLATE "C" NOT NULL, user_row integer NOT NULL, expires timestamptz NOT NULL, list bytea NOT NULL,
         PRIMARY KEY (tag, user_row)) WITH (fillfactor = 70);
       ALTER TABLE ${table} ALTER COLUMN list SET STORAGE EXTERNAL;
       CREATE INDEX IF NOT EXISTS cached_lists_expires ON ${table} (expires)`,
    );
    this.isMade = true;
  }

  private sweepInTime(): void {
    const now = performance.now();
    if (now - this.sweptAt < SWEEP_MS) return;
    this.sweptAt = now;
    // What is left is removed by the next one, of this node or of another.
    void this.sweep().catch(() => {});
  }

  /** Nodes that sweep at the same time share the work. */
  private async sweep(): Promise<void> {
    for (;;) {
      const removed = await this.aside.rows(
        `DELETE FROM ${this.table} WHERE (tag, user_row) IN (
           SELECT tag, user_row FROM ${this.table} WHERE expires < now() LIMIT ${SWEEP_ROWS} FOR UPDATE SKIP LOCKED)
         RETURNING 1`,
      );
      if (removed.length < SWEEP_ROWS) return;
    }
  }
}
