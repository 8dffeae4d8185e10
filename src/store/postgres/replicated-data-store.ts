import type { PostgresDsn } from '../dsn.ts';
import { type DataStoreOptions, LmdbDataStore } from '../lmdb/lmdb-data-store.ts';
import { Barrier } from './barrier.ts';
import { Link, pulseOf } from './connection.ts';

export interface ReplicatedOptions extends DataStoreOptions {
  readonly sharedDatabase: PostgresDsn;
  /** Largest lag of reads behind other nodes' writes, milliseconds; 0 for none. */
  readonly behindMsMax: number;
}

/**
 * The data store on PostgreSQL. Everything is read from a replica of it in a folder of this machine, at the embedded store's
 * speed; what is written goes to PostgreSQL, and all nodes' writes come into the replica in one order. Before a request is
 * answered, `barrier` makes sure that the replica has what was answered anywhere before.
 */
export class ReplicatedDataStore extends LmdbDataStore {
  protected readonly link: Link;
  readonly barrier: Barrier;

  /** The folder must have been made ready by `prepareReplica`. */
  constructor(options: ReplicatedOptions) {
    super(options, 'store/postgres/replica-thread');
    const { sharedDatabase, behindMsMax } = options;
    this.link = new Link(sharedDatabase, 'furze reading', undefined, pulseOf(sharedDatabase));
    const question = `SELECT position FROM "${sharedDatabase.schema}".head`;
    this.barrier = new Barrier({
      behindMsMax,
      ask: async () => (await this.link.rows<[number]>(question))[0]![0],
      follow: () => this.post({ kind: 'follow' }),
      isKnown: (user: string | number) => this.isKnown(user),
      load: (users: readonly (string | number)[]) => this.loadUsers(users),
      elapsedMs: () => performance.now(),
    });
  }

  override async close(): Promise<void> {
    await super.close();
    await this.link.close();
  }

  /** True for a user whom reads show, by the id or the row: a whole copy shows all. */
  protected isKnown(_user: string | number): boolean {
    return true;
  }

  /** Has reads show users, as they are now. @throws Error when that cannot be */
  protected async loadUsers(_users: readonly (string | number)[]): Promise<void> {}

  protected override noteReached(position: number): void {
    this.barrier.reached(position);
  }
}
