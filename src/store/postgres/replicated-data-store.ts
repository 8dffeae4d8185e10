import type { PostgresDsn } from '../dsn.ts';
import { type DataStoreOptions, LmdbDataStore } from '../lmdb/lmdb-data-store.ts';
import { Barrier } from './barrier.ts';
import { Link } from './connection.ts';

export interface ReplicatedOptions extends DataStoreOptions {
  readonly upstream: PostgresDsn;
  /** How far reads may be behind other nodes' writes, milliseconds; 0 for not at all. */
  readonly behindMsMax: number;
}

/**
 * The data store on PostgreSQL. Everything is read from a copy of it in a folder of this machine, at the embedded store's
 * speed; what is written goes to PostgreSQL, and all nodes' writes come into the copy in one order. Before a request is
 * answered, `barrier` makes sure that the copy has what was answered anywhere before.
 */
export class ReplicatedDataStore extends LmdbDataStore {
  private readonly link: Link;
  readonly barrier: Barrier;

  /** The folder must have been made ready by `prepareReplica`. */
  constructor(options: ReplicatedOptions) {
    super(options, 'store/postgres/replica-thread');
    const { upstream, behindMsMax } = options;
    this.link = new Link(upstream, 'furze reading');
    const question = `SELECT position FROM "${upstream.schema}".head`;
    const parts = {
      behindMsMax,
      ask: async () => {
        const connection = await this.link.connect();
        const [row] = await connection.rows<[number]>(question);
        return row![0];
      },
      follow: () => this.lookForCommits(),
      elapsedMs: () => performance.now(),
    };
    this.barrier = new Barrier(parts, 0);
  }

  override async close(): Promise<void> {
    await super.close();
    await this.link.close();
  }

  protected override noteReached(position: number): void {
    this.barrier.reached(position);
  }
}
