import type { PostgresDsn, S3Dsn } from './dsn.ts';

/** Keeps the parts of models by name, each replaced as a whole. */
export interface ModelStore {
  /** @throws Error when it cannot be stored; NotLeadingError when another node leads by now */
  putBlob(name: string, bytes: Uint8Array): Promise<void>;
  getBlob(name: string): Promise<Uint8Array | undefined>;
}

/** Names that begin so are of no generation, and outlive each. */
export const KEPT_NAMES = 'given/';

/** Names a model store so that any thread can open it: this node's cache, or the database that all nodes share. */
export type ModelPlace = { readonly kind: 'cache'; readonly cachePath: string } | SharedModelPlace;

/** The same in the database that all nodes share. */
export interface SharedModelPlace {
  readonly kind: 'postgres';
  readonly dsn: PostgresDsn;
  /** Under which parts are put: while it is that of the leader, and not afterwards. */
  readonly epoch: number;
  /** Where parts of generations are instead of the database. */
  readonly objects?: ObjectPlace | undefined;
  /** 1 in the first element once nobody waits any more for a database that is away. */
  readonly givenUp: Int32Array<SharedArrayBuffer>;
}

/** Where the objects of the nodes that share one store are in a bucket. */
export interface ObjectPlace {
  readonly dsn: S3Dsn;
  /** Tells the store: other objects under the same prefix are somebody else's. */
  readonly tag: string;
}

/** Another node leads by now, so what this one has learned does not count. */
export class NotLeadingError extends Error {
  constructor() {
    super('another node leads by now; what this one was learning is dropped');
    this.name = 'NotLeadingError';
  }
}
