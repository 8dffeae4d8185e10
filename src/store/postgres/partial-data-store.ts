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
    Object.assign(this, this.database.answers());
    this.local.isKnown = (userRow) => this.known.has(userRow);
    this.local.occurrences = (feedback) => this.database.occurrences(feedback);
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

  private endLoads(): void {
    for (const { reject } of this.loads.values()) reject(new Error('the thread that loads users is gone'));
    this.loads.clear();
  }
}
