import type { Random } from '../../src/domain/random.ts';
import { pause } from '../furze-process.ts';
import { ask } from './ask.ts';
import type { Node } from './node.ts';
import { Shelves } from './shelves.ts';
import { StaleMarks } from './stale-marks.ts';
import { Tastes } from './tastes.ts';

/** Users that the flood writes for. */
const USERS = 40;

/** Rounds between two changes of a taste, and of a placement. */
const ROUNDS_A_TASTE = 4;
const ROUNDS_A_SHELF = 8;

/** How often a node is asked until its answer is not marked stale, ten times a second. */
const FRESH_TRIES_MAX = 600;

interface Stored {
  readonly ItemId: string;
}

/**
 * Writes to one server and reads from another all the time, whatever happens to them. What was acknowledged must be shown by
 * any server from then on, unless the answer says that it may be stale.
 */
export class Flood {
  private readonly servers: readonly Node[];
  private readonly random: Random;
  /** Items that a user was acknowledged to have read. */
  private readonly known = new Map<string, Set<string>>();
  private readonly tastes: Tastes;
  readonly shelves: Shelves;
  private rounds = 0;
  private next = 0;
  private readonly missed: string[] = [];
  private isOver = false;
  private running: Promise<void> = Promise.resolve();
  acknowledged = 0;
  refused = 0;
  reads = 0;
  readonly stale = new StaleMarks();

  constructor(servers: readonly Node[], random: Random) {
    this.servers = servers;
    this.random = random;
    this.tastes = new Tastes(random, this.stale);
    this.shelves = new Shelves(random, this.stale);
  }

  /** What was answered that cannot be. */
  get wrong(): readonly string[] {
    return [...this.missed, ...this.tastes.wrong, ...this.shelves.wrong];
  }

  /** Changes of taste that were acknowledged, each followed by two lists. */
  get tasteChanges(): number {
    return this.tastes.changes;
  }

  start(): void {
    this.isOver = false;
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await this.running;
  }

  /** Writes to the one, then reads from the other. @returns whether all was answered */
  async round(to: Node, from: Node): Promise<boolean> {
    const userId = `f${this.random.below(USERS)}`;
    if (!(await this.write(to, userId))) return false;
    if (!(await this.read(from, userId))) return false;
    if (++this.rounds % ROUNDS_A_SHELF === 0 && !(await this.shelves.round(to, from))) return false;
    return this.rounds % ROUNDS_A_TASTE > 0 || this.tastes.round(to, from);
  }

  /** Looks for everything that was acknowledged. @returns what is missing */
  async missingFrom(node: Node): Promise<string[]> {
    const missing: string[] = [];
    for (const [userId, known] of this.known) {
      // Others are acknowledged while the node answers, which need not be in its answer.
      const items = [...known];
      const there = await this.shownBy(node, userId);
      for (const itemId of items) if (!there.has(itemId)) missing.push(`${userId} ${itemId}`);
    }
    return [...missing, ...(await this.shelves.missingFrom(node))];
  }

  /** What a node shows of a user once it says that it is up to date. */
  private async shownBy(node: Node, userId: string): Promise<ReadonlySet<string>> {
    for (let tries = 0; tries < FRESH_TRIES_MAX; tries++) {
      const answer = await ask(node, `/api/user/${userId}/feedback/read`);
      if (answer?.status === 200 && !answer.isStale)
        return new Set((JSON.parse(answer.text) as Stored[]).map(({ ItemId }) => ItemId));
      await pause(100);
    }
    throw new Error(`${node.name} does not come up to date`);
  }

  private async run(): Promise<void> {
    while (!this.isOver) {
      const at = this.random.below(this.servers.length);
      const to = this.servers[at]!;
      const from = this.servers[(at + 1) % this.servers.length]!;
      if (!(await this.round(to, from))) await pause(20);
    }
  }

  /** Each item is new, so one whose writing failed is not missed and not expected. */
  private async write(to: Node, UserId: string): Promise<boolean> {
    const ItemId = `r${this.next++}`;
    const body = JSON.stringify([{ FeedbackType: 'read', UserId, ItemId, Timestamp: '2024-06-01' }]);
    const answer = await ask(to, '/api/feedback', { method: 'PUT', body });
    if (answer?.status !== 200) {
      this.refused++;
      return false;
    }
    this.acknowledged++;
    const items = this.known.get(UserId) ?? new Set();
    this.known.set(UserId, items.add(ItemId));
    return true;
  }

  private async read(from: Node, userId: string): Promise<boolean> {
    const expected = [...(this.known.get(userId) ?? [])];
    const answer = await ask(from, `/api/user/${userId}/feedback/read`);
    if (answer?.status !== 200) return false;
    if (this.stale.note(from, answer)) return true;
    this.reads++;
    const there = new Set((JSON.parse(answer.text) as Stored[]).map(({ ItemId }) => ItemId));
    const missing = expected.filter((itemId) => !there.has(itemId));
    if (missing.length > 0)
      this.missed.push(`${from.name} does not show ${missing.length} of ${userId}, as ${missing[0]}`);
    const list = await ask(from, `/api/recommend/${userId}?n=50`);
    if (list?.status !== 200 || this.stale.note(from, list)) return false;
    const shown = (JSON.parse(list.text) as string[]).filter((itemId) => expected.includes(itemId));
    if (shown.length > 0)
      this.missed.push(`${from.name} recommends ${shown[0]} to ${userId}, who has read it`);
    return true;
  }
}
