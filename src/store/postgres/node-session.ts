import { randomUUID } from 'node:crypto';
import { repeated } from '../../platform/concurrency/repeated.ts';
import type { Cluster, NodeFacts, NodeState, PublishedGeneration, SharedPasses } from '../cluster.ts';
import type { PostgresDsn } from '../dsn.ts';
import { KEPT_NAMES, NotLeadingError } from '../model-store.ts';
import { type Connection, Link, persist } from './connection.ts';
import { PassBlocks } from './pass-blocks.ts';

/** Period in which a node looks who leads and what is published, milliseconds. */
const BEAT_MS = 1000;
/** Steps between two signs of life, at which the node also looks who else is there. */
const BEATS_A_NOTE = 3;
/** Time in which the database must answer; a leader whose connection hangs loses it after that. */
const ANSWER_MS_MAX = 10_000;
/** A leader that says nothing for so long, because it is paused or its host is gone, is one no more. */
const LEADER_IDLE_MS_MAX = 15_000;
/** After a loss of the connection, the node that led has so long to go on before another may take its place. */
const GRACE_MS = 10_000;
/** Nodes that were silent for so long are listed no more. */
const FORGOTTEN_MINUTES = 10;
/** The first key of the advisory lock that the leader holds; the second one stands for the schema. */
const LEADER_LOCK = 0x66757a6c;

export interface NodeSessionOptions {
  readonly dsn: PostgresDsn;
  readonly facts: NodeFacts;
  /** The last commit that this node's replica shows. */
  readonly position: () => number;
  /** Deletes the parts of old generations elsewhere than in the database; see `ModelObjects.keep`. */
  readonly keepObjects?: ((kept: () => Promise<readonly string[]>) => Promise<void>) | undefined;
}

/**
 * A node among the others, by one connection of its own. The leader holds an advisory lock by it, which ends with the
 * connection; each new leader raises the epoch, and nothing is stored or published under an older one: so a leader that was
 * paused, or cut off, can still believe that it leads, and do no harm.
 */
export class NodeSession implements Cluster {
  readonly self: NodeFacts & { readonly id: string };
  readonly passes: SharedPasses;
  /** Kept while the connection is lost: nobody else leads for that alone. */
  epoch: number | undefined;
  published = 0;
  publishedAgeMs: number | undefined;
  fitsAsked = 0;
  pass = 0;
  private readonly options: NodeSessionOptions;
  private readonly link: Link;
  private readonly s: string;
  private readonly listeners: (() => void)[] = [];
  private connection: Connection | undefined;
  private connectedAt = 0;
  private isFirstConnection = true;
  private holdsLock = false;
  private isGivenUp = false;
  /** State that all nodes read with each beat, as it was read last. */
  private turn = '';
  private known: readonly NodeState[] = [];
  private knownAt = 0;
  private address = '';
  private served = 0;
  private beats = 0;
  private endBeats = async () => {};

  constructor(options: NodeSessionOptions) {
    const { dsn, facts, position } = options;
    this.options = options;
    this.self = { id: randomUUID(), ...facts };
    this.link = new Link({ ...dsn, url: dsn.sessionUrl }, 'furze node', ANSWER_MS_MAX);
    this.s = `"${dsn.schema}"`;
    this.passes = new PassBlocks({
      ...{ link: this.link, schema: this.s, node: this.self.id, position },
      isGivenUp: () => this.isGivenUp,
    });
  }

  /** Joins the others. @throws Error when the database does not answer */
  async start(): Promise<void> {
    await this.beat();
    // The barrier of reads tells that the database is away.
    this.endBeats = repeated(BEAT_MS, () => this.beat());
  }

  get nodes(): readonly NodeState[] {
    const since = performance.now() - this.knownAt;
    return this.known.map((node) => ({ ...node, silentMs: node.silentMs + since }));
  }

  onTurn(listener: () => void): void {
    this.listeners.push(listener);
  }

  async readPublished(): Promise<PublishedGeneration | undefined> {
    const [row] = await this.link.rows<[number, unknown]>(`SELECT number, mark FROM ${this.s}.generation`);
    const [number, manifest] = row!;
    return number === 0 ? undefined : { number, manifest };
  }

  async publish(generation: PublishedGeneration, parts: readonly string[], epoch: number): Promise<void> {
    await persist(
      () => this.publishOnce(generation, parts, epoch),
      () => this.isGivenUp,
    );
    // What is left now goes with the next generation.
    await this.deleteOldParts(epoch).catch(() => {});
  }

  giveUp(): void {
    this.isGivenUp = true;
  }

  private async publishOnce(
    { number, manifest }: PublishedGeneration,
    parts: readonly string[],
    epoch: number,
  ): Promise<void> {
    const connection = await this.link.connect();
    // One statement, so one transaction: a leader that is none any more changes nothing. It may have been carried out
    // before, where its answer was lost.
    const done = await connection.rows(
      `UPDATE ${this.s}.generation SET number = $1, mark = $2::json, parts = $3::text[], published_at = now(),
         parts_before = CASE WHEN parts = $3::text[] THEN parts_before ELSE parts END
       WHERE epoch = $4 RETURNING 1`,
      [number, JSON.stringify(manifest), parts, epoch],
    );
    if (done.length === 0) throw new NotLeadingError();
    await this.look(connection);
  }

  /** By a connection of its own, since it may take longer than the one of the leader may be without an answer. */
  private async deleteOldParts(epoch: number): Promise<void> {
    const tidying = new Link(this.options.dsn, 'furze tidying');
    try {
      await tidying.run(
        `DELETE FROM ${this.s}.model_parts m USING ${this.s}.generation g
         WHERE g.epoch = $1 AND m.name <> ALL (g.parts || g.parts_before) AND m.name NOT LIKE '${KEPT_NAMES}%'`,
        [epoch],
      );
      await this.options.keepObjects?.(async () => {
        const question = `SELECT parts || parts_before FROM ${this.s}.generation WHERE epoch = $1`;
        const [kept] = await tidying.rows<[string[]]>(question, [epoch]);
        if (kept === undefined) throw new NotLeadingError();
        return kept[0];
      });
    } finally {
      await tidying.close();
    }
  }

  askForFit(): Promise<void> {
    return this.link.run(`UPDATE ${this.s}.generation SET fits_asked = fits_asked + 1`);
  }

  noteAddress(address: string): void {
    this.address = address;
    this.beats = 0;
  }

  noteServed(generation: number): void {
    this.served = generation;
    this.beats = 0;
  }

  async close(): Promise<void> {
    await this.endBeats();
    const { connection } = this;
    if (connection?.isOpen)
      await connection.run(`DELETE FROM ${this.s}.nodes WHERE id = $1`, [this.self.id]).catch(() => {});
    await this.link.close();
  }

  private async beat(): Promise<void> {
    const connection = await this.link.connect();
    if (connection !== this.connection) await this.noteConnection(connection);
    if (this.mayLead()) await this.tryToLead(connection);
    await this.look(connection);
    if (this.beats++ % BEATS_A_NOTE === 0) await this.note(connection);
  }

  private async noteConnection(connection: Connection): Promise<void> {
    // PostgreSQL has it since version 14.
    await connection.run(`SET idle_session_timeout = ${LEADER_IDLE_MS_MAX}`).catch(() => {});
    this.isFirstConnection = this.connection === undefined;
    this.connection = connection;
    this.connectedAt = performance.now();
    this.holdsLock = false;
    this.beats = 0;
  }

  private mayLead(): boolean {
    if (this.holdsLock || this.self.role === 'server') return false;
    if (this.isFirstConnection || this.epoch !== undefined) return true;
    return performance.now() - this.connectedAt > GRACE_MS;
  }

  /** The node that gets the lock leads. The one that led before goes on under its epoch, so that what it learns is not lost. */
  private async tryToLead(connection: Connection): Promise<void> {
    const [row] = await connection.rows<[boolean]>('SELECT pg_try_advisory_lock($1, hashtext($2))', [
      LEADER_LOCK,
      this.s,
    ]);
    if (!row![0]) return;
    try {
      const [led] = await connection.rows<[number]>(
        `UPDATE ${this.s}.generation SET epoch = epoch + (leader <> $1)::integer, leader = $1 RETURNING epoch`,
        [this.self.id],
      );
      this.epoch = led![0];
      this.holdsLock = true;
    } catch (error) {
      // Whoever holds it without leading keeps all others from it.
      await connection
        .run('SELECT pg_advisory_unlock($1, hashtext($2))', [LEADER_LOCK, this.s])
        .catch(() => {});
      throw error;
    }
  }

  private async look(connection: Connection): Promise<void> {
    const [row] = await connection.rows<[number, number, number | null, number, number]>(
      `SELECT epoch, number, (extract(epoch FROM now() - published_at) * 1000)::double precision, fits_asked,
         CASE WHEN pass_generation > 0 THEN pass ELSE 0 END
       FROM ${this.s}.generation`,
    );
    const [epoch, published, ageMs, fitsAsked, pass] = row!;
    Object.assign(this, { published, publishedAgeMs: ageMs ?? undefined, fitsAsked, pass });
    if (this.epoch !== undefined && this.epoch !== epoch) {
      this.epoch = undefined;
      this.holdsLock = false;
    }
    const turn = `${epoch} ${published} ${fitsAsked} ${pass}`;
    if (turn === this.turn) return;
    this.turn = turn;
    // Another may lead: who that is, is known at once.
    this.beats = 0;
    for (const listener of this.listeners) listener();
  }

  /** Says that this node is there, and reads who else is. */
  private async note(connection: Connection): Promise<void> {
    const { s } = this;
    const { id, name, role, version, settings } = this.self;
    await connection.run(
      `INSERT INTO ${s}.nodes (id, name, role, version, address, generation, lag, settings)
       SELECT $1, $2, $3, $4, $5, $6, greatest(0, position - $7), $8::json FROM ${s}.head
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, address = excluded.address, generation = excluded.generation,
         lag = excluded.lag, seen = excluded.seen`,
      [id, name, role, version, this.address, this.served, this.options.position(), JSON.stringify(settings)],
    );
    await connection.run(
      `DELETE FROM ${s}.nodes WHERE seen < now() - interval '${FORGOTTEN_MINUTES} minutes'
         OR (name = $1 AND id <> $2 AND address = $3 AND seen < now() - interval '${LEADER_IDLE_MS_MAX} ms')`,
      [name, id, this.address],
    );
    const rows = await connection.rows<[NodeState]>(
      `SELECT to_json(f) FROM (SELECT n.id, n.name, n.role, n.version, n.address, n.generation, n.lag, n.settings, n.id = g.leader AS "isLeader",
           greatest(0, extract(epoch FROM now() - n.seen) * 1000)::double precision AS "silentMs"
         FROM ${s}.nodes n, ${s}.generation g ORDER BY n.role, n.name, n.id) f`,
    );
    this.known = rows.map(([node]) => ({ ...node, isSelf: node.id === id }));
    this.knownAt = performance.now();
  }
}
