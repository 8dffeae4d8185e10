import type { Feedback, Page, User } from '../../domain/entities.ts';
import { FurzeError } from '../../domain/furze-error.ts';
import type { StoreStats } from '../data-store.ts';
import type { BackupStream } from '../lmdb/maintenance/backup.ts';
import type { FromWriter } from '../lmdb/tables/writer-messages.ts';
import { DatabaseReads } from './database-reads.ts';
import { ReplicatedDataStore, type ReplicatedOptions } from './replicated-data-store.ts';

type Loaded = Extract<FromWriter, { kind: 'loaded' }>;

interface Waiting {
  resolve(): void;
  reject(error: Error): void;
}

/**
 * The data store on PostgreSQL with a copy of items alone. Users are loaded into it before a request is answered that asks for them
 * (`PartialCopy`); whatever goes by feedback of others is asked of the database.
 */
export class PartialDataStore extends ReplicatedDataStore {
  /** Rows of the users who are here as of the last commit. */
  private readonly known = new Set<number>();
  private readonly loads = new Map<number, Waiting>();
  private lastLoad = 0;
  private readonly database: DatabaseReads;

  constructor(options: ReplicatedOptions) {
    super({ ...options, isPartial: true, readsWait: options.behindMsMax === 0 });
    this.database = new DatabaseReads(options.sharedDatabase, this.link, options.rules.limits.pageBytesMax);
    this.local.isKnown = (userRow) => this.known.has(userRow);
    const own = this.local.occurrences.bind(this.local);
    this.local.occurrences = (feedback) => this.database.occurrences(feedback) ?? own(feedback);
  }

  override async getUser(userId: string): Promise<User | undefined> {
    await this.bring(userId);
    return super.getUser(userId);
  }

  override async getFeedback(type: string, userId: string, itemId: string): Promise<Feedback | undefined> {
    await this.bring(userId);
    return super.getFeedback(type, userId, itemId);
  }

  override async getPairFeedback(userId: string, itemId: string): Promise<Feedback[]> {
    await this.bring(userId);
    return super.getPairFeedback(userId, itemId);
  }

  override async *walkUserFeedback(userId: string, type?: string): AsyncGenerator<readonly Feedback[]> {
    await this.bring(userId);
    const row = this.local.userRow(userId);
    yield* super.walkUserFeedback(userId, type);
    if (this.local.userRow(userId) === row) return;
    await this.bring(userId);
    // Who reads slowly may outlast here a user who is still there, and must not take a part for the whole.
    if (this.local.userRow(userId) === row) throw away();
  }

  override getUsers(n: number, cursor: string, prefix?: string): Promise<Page<User>> {
    return this.database.getUsers(n, cursor, prefix);
  }

  override getFeedbackPage(n: number, cursor: string, type?: string): Promise<Page<Feedback>> {
    return this.database.getFeedbackPage(n, cursor, type);
  }

  override async *walkItemFeedback(itemId: string, type?: string): AsyncGenerator<readonly Feedback[]> {
    await this.barrier.pass();
    const itemRow = this.local.itemRow(itemId);
    if (itemRow >= 0) yield* this.database.walkItemFeedback(itemRow, type);
  }

  override getItemUsers(itemRow: number): Promise<Uint32Array> {
    return this.database.getItemUsers(itemRow);
  }

  /** As the database counts it; by what was told of commits while that is away. */
  override async getStats(): Promise<StoreStats> {
    const own = await super.getStats();
    const counted = await this.database.getStats().catch(() => own);
    return { ...counted, bytes: own.bytes };
  }

  override backup(): Promise<BackupStream> {
    return Promise.reject(
      new FurzeError(
        'INVALID_PARAMETER',
        'This server has no copy of the data: back PostgreSQL up with its own tools.',
      ),
    );
  }

  override async close(): Promise<void> {
    await super.close();
    this.endLoads();
  }

  protected override isKnown(user: string | number): boolean {
    return this.known.has(typeof user === 'number' ? user : this.local.userRow(user));
  }

  protected override loadUsers(users: readonly (string | number)[]): Promise<void> {
    const ticket = ++this.lastLoad;
    const userIds = users.filter((user) => typeof user === 'string');
    const userRows = users.filter((user) => typeof user === 'number');
    return new Promise((resolve, reject) => {
      this.loads.set(ticket, { resolve, reject });
      this.post({ kind: 'load', ticket, userIds, userRows });
    });
  }

  protected override noteKnown(forgotten: readonly number[], known: readonly number[]): void {
    for (const row of forgotten) this.known.delete(row);
    for (const row of known) this.known.add(row);
  }

  protected override noteLoaded({ tickets, known }: Loaded): void {
    for (const ticket of tickets) {
      const load = this.loads.get(ticket);
      this.loads.delete(ticket);
      if (known === undefined) load?.reject(new Error('users could not be loaded'));
      else load?.resolve();
    }
  }

  /** Another writer knows nobody. */
  protected override noteDown(): void {
    this.known.clear();
    this.endLoads();
  }

  /** Has reads show a user. @throws FurzeError STORE_UNAVAILABLE where the user is not here and the database does not answer */
  private async bring(userId: string): Promise<void> {
    await this.barrier.pass([userId]);
    if (this.barrier.lacks(userId)) throw away();
  }

  private endLoads(): void {
    for (const { reject } of this.loads.values()) reject(new Error('the thread that loads users is gone'));
    this.loads.clear();
  }
}

function away(): FurzeError {
  return new FurzeError('STORE_UNAVAILABLE', 'The database does not answer at the moment.');
}
