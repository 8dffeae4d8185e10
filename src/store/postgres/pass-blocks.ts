import { setTimeout as delay } from 'node:timers/promises';
import type { PassCourse, PassKind, SharedPasses } from '../cluster.ts';
import { type Link, persist } from './connection.ts';
import { int4Array, int4s } from './sql-arrays.ts';

/** A block whose node says nothing for so long is taken by another, milliseconds by the clock of the database. */
const LEASE_MS = 30_000;
/** Blocks that are stored before others have their turn. */
const BLOCKS_STORED = 64;
/** Pause before a node looks again whether its copy shows enough, and whether a block has come free, milliseconds. */
const COPY_MS = 50;
const FREE_MS = 500;

export interface PassBlocksOptions {
  readonly link: Link;
  /** Quoted. */
  readonly schema: string;
  /** Identity of this node, another after each start. */
  readonly node: string;
  /** The last commit that this node's copy shows. */
  readonly position: () => number;
  readonly isGivenUp: () => boolean;
  readonly leaseMs?: number;
}

/**
 * The last pass: a row for each block that is not done, with the node that has it and until when; its course stands in
 * `generation`, which each node reads with its beat.
 */
export class PassBlocks implements SharedPasses {
  readonly options: Required<PassBlocksOptions>;

  constructor(options: PassBlocksOptions) {
    this.options = { leaseMs: LEASE_MS, ...options };
  }

  async find({ generation, settings }: PassKind): Promise<PassCourse | undefined> {
    const [row] = await this.ask<[number, number, number, number]>(
      `SELECT pass, pass_users, pass_done, pass_position FROM ${this.options.schema}.generation
       WHERE pass_generation = $1 AND pass_settings = $2`,
      [generation, settings],
    );
    if (row === undefined) return undefined;
    const [pass, users, done, position] = row;
    // Users whom the copy lacks would look as if they were gone.
    while (this.options.position() < position && !this.options.isGivenUp()) await delay(COPY_MS);
    return new CourseInBlocks(this, pass, users, done);
  }

  async begin(
    { generation, settings }: PassKind,
    blocks: Iterable<Uint32Array>,
    epoch: number,
  ): Promise<PassCourse | undefined> {
    const { schema: s, position } = this.options;
    const [begun] = await this.ask<[number]>(
      `UPDATE ${s}.generation SET pass = pass + 1, pass_generation = 0, pass_done = 0, pass_position = $2
       WHERE epoch = $1 RETURNING pass`,
      [epoch, position()],
    );
    if (begun === undefined) return undefined;
    const [pass] = begun;
    await this.ask(`DELETE FROM ${s}.pass_blocks WHERE pass < $1`, [pass]);
    let [users, number] = [0, 0];
    const stored: Promise<unknown>[] = [];
    for (const rows of blocks) {
      users += rows.length;
      const values = [pass, number++, int4Array(rows)];
      stored.push(
        this.ask(`INSERT INTO ${s}.pass_blocks VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, values),
      );
      if (stored.length >= BLOCKS_STORED) await Promise.all(stored.splice(0));
    }
    await Promise.all(stored);
    const [divided] = await this.ask(
      `UPDATE ${s}.generation SET pass_generation = $2, pass_settings = $3, pass_users = $4
       WHERE pass = $1 AND epoch = $5 RETURNING 1`,
      [pass, generation, settings, users, epoch],
    );
    return divided && new CourseInBlocks(this, pass, users, 0);
  }

  /** Asks the database, and waits for it while it is away. */
  ask<T extends readonly unknown[]>(text: string, values: readonly unknown[]): Promise<T[]> {
    return persist(() => this.options.link.rows<T>(text, values), this.options.isGivenUp);
  }
}

class CourseInBlocks implements PassCourse {
  /** Not asked for: shared lists say by themselves what they were made of. */
  readonly beganMs = 0;
  readonly total: number;
  done: number;
  private isCurrent = true;
  private readonly passes: PassBlocks;
  private readonly pass: number;
  private readonly taken = new Map<Uint32Array, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(passes: PassBlocks, pass: number, users: number, done: number) {
    this.passes = passes;
    this.pass = pass;
    this.total = users;
    this.done = done;
  }

  get isOver(): boolean {
    return this.done >= this.total;
  }

  get isMore(): boolean {
    return this.isCurrent && !this.isOver;
  }

  async take(signal: AbortSignal): Promise<Uint32Array | undefined> {
    const { leaseMs } = this.passes.options;
    this.timer ??= setInterval(() => {
      if (this.taken.size > 0) void this.lease([...this.taken.values()], leaseMs);
    }, leaseMs / 3).unref();
    while (this.isMore && !signal.aborted) {
      const userRows = await this.takeFree();
      if (userRows !== undefined) return userRows;
      // Until the pass is over, a node that has taken a block may be lost.
      if (this.isMore) await delay(FREE_MS, undefined, { signal }).catch(() => {});
    }
    return undefined;
  }

  async end(userRows: Uint32Array): Promise<void> {
    const { schema: s, node } = this.passes.options;
    const [row] = await this.passes.ask<[number]>(
      `WITH done AS (
         DELETE FROM ${s}.pass_blocks WHERE pass = $1 AND block = $2 AND node = $3 RETURNING cardinality(user_rows) AS users)
       UPDATE ${s}.generation g SET pass_done = g.pass_done + done.users FROM done WHERE g.pass = $1 RETURNING g.pass_done`,
      [this.pass, this.taken.get(userRows), node],
    );
    this.taken.delete(userRows);
    this.done = Math.max(this.done, row?.[0] ?? 0);
  }

  async leave(): Promise<void> {
    clearInterval(this.timer);
    await this.lease([], 0);
  }

  private async takeFree(): Promise<Uint32Array | undefined> {
    const { schema: s, node, leaseMs } = this.passes.options;
    const [row] = await this.passes.ask<[boolean, number, number | null, Buffer]>(
      `WITH free AS (
         SELECT block FROM ${s}.pass_blocks WHERE pass = $1 AND (until IS NULL OR until < now())
         ORDER BY block LIMIT 1 FOR UPDATE SKIP LOCKED),
       taken AS (
         UPDATE ${s}.pass_blocks b SET node = $2, until = now() + $3 * interval '1 millisecond'
         FROM free WHERE b.pass = $1 AND b.block = free.block RETURNING b.block, array_send(b.user_rows) AS user_rows)
       SELECT g.pass = $1, g.pass_done, t.block, t.user_rows FROM ${s}.generation g LEFT JOIN taken t ON true`,
      [this.pass, node, leaseMs],
    );
    const [isCurrent, done, block, rows] = row!;
    this.isCurrent = isCurrent;
    if (isCurrent) this.done = Math.max(this.done, done);
    if (block === null) return undefined;
    const userRows = Uint32Array.from(int4s(rows));
    this.taken.set(userRows, block);
    return userRows;
  }

  /** Keeps blocks of this node for so long, and gives all others back; what the database does not take now runs out. */
  private async lease(blocks: readonly number[], ms: number): Promise<void> {
    const { schema: s, node, link } = this.passes.options;
    const kept = `now() + $4 * interval '1 millisecond'`;
    await link
      .run(
        `UPDATE ${s}.pass_blocks SET until = CASE WHEN block = ANY($3::int4[]) THEN ${kept} END WHERE pass = $1 AND node = $2`,
        [this.pass, node, int4Array(blocks), ms],
      )
      .catch(() => {});
  }
}
