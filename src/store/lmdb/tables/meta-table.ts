/**
 * The entries of the `meta` table: counts and next rows, names of feedback types, the store's identity, and of a copy which
 * commits it holds.
 */
import { randomBytes } from 'node:crypto';
import type { PositiveKind } from '../../../domain/positive-feedback-types.ts';
import type { Point } from '../../commit-effects.ts';
import type { DataTables } from './data-tables.ts';
import { readBytes } from './engine.ts';

/** Keys of the `meta` table. */
const STATE_KEY = Buffer.from('state');
const TYPES_KEY = Buffer.from('types');
const KINDS_KEY = Buffer.from('kinds');
const IDENTITY_KEY = Buffer.from('identity');
const OPENINGS_KEY = Buffer.from('openings');
const REPLICA_OF_KEY = Buffer.from('upstream');
const IDENTITY_BYTES = 16;

/** Counts and next rows in the order in which they are stored, in the same transaction as what they count. */
const STATE_FIELDS = [
  'nextUserRow',
  'nextItemRow',
  'users',
  'items',
  'feedback',
  'comments',
  'feedbackTypes',
  // Changes when a number is given to another feedback type.
  'typesVersion',
  // Users and items whose feedback is still being removed.
  'deletions',
  // Feedback with a value that is not 0.
  'values',
  // Number of the last commit that changed feedback.
  'feedbackCommits',
  // Feedback that happened more than once.
  'repeats',
] as const;
export type StoreState = Record<(typeof STATE_FIELDS)[number], number>;

export function readState(tables: DataTables): StoreState {
  const bytes = readBytes(tables.meta, STATE_KEY);
  const view = bytes && new DataView(bytes.buffer, bytes.byteOffset);
  const field = (index: number) => view?.getFloat64(index * 8, true) ?? 0;
  return {
    nextUserRow: field(0),
    nextItemRow: field(1),
    users: field(2),
    items: field(3),
    feedback: field(4),
    comments: field(5),
    feedbackTypes: field(6),
    typesVersion: field(7),
    deletions: field(8),
    values: field(9),
    feedbackCommits: field(10),
    repeats: field(11),
  };
}

export function writeState(tables: DataTables, state: StoreState): void {
  const view = new DataView(new ArrayBuffer(STATE_FIELDS.length * 8));
  STATE_FIELDS.forEach((name, index) => {
    view.setFloat64(index * 8, state[name], true);
  });
  tables.meta.put(STATE_KEY, new Uint8Array(view.buffer));
}

export function readTypes(tables: DataTables): string[] {
  return readJson<string[]>(tables, TYPES_KEY) ?? [];
}

/** Identity of this store, another one after a restore; made when there is none. */
export function identityOf(tables: DataTables): string {
  const bytes = tables.meta.getBinary(IDENTITY_KEY);
  return bytes === undefined ? renewIdentity(tables) : Buffer.from(bytes).toString('hex');
}

/** Gives the store another identity: a cache that belongs to the old one does not fit it. */
export function renewIdentity({ engine, meta }: DataTables): string {
  const identity = randomBytes(IDENTITY_BYTES);
  engine.transact(() => meta.put(IDENTITY_KEY, identity));
  return identity.toString('hex');
}

/** Random marks of this opening of the store to write and of the one before, the last first; none for a store that nobody has opened so. */
export function readOpenings(tables: DataTables): string[] {
  return readJson<string[]>(tables, OPENINGS_KEY) ?? [];
}

/** Gives this opening a mark, which tells the store from copies of it that are older. */
export function markOpening(tables: DataTables): void {
  const openings = [randomBytes(IDENTITY_BYTES).toString('hex'), ...readOpenings(tables)].slice(0, 2);
  try {
    tables.engine.transact(() => tables.meta.put(OPENINGS_KEY, Buffer.from(JSON.stringify(openings))));
  } catch {
    // A full disk: nothing is written to the store, either, and it is not told from this one.
  }
}

/** The kinds of positive feedback that go by a value, as the last service that wrote the folder was told. */
export function readKinds(tables: DataTables): PositiveKind[] {
  return readJson<PositiveKind[]>(tables, KINDS_KEY) ?? [];
}

/** Keeps the kinds that go by a value, so that every thread that reads the folder tells them apart alike. */
export function keepKinds(tables: DataTables, kinds: readonly PositiveKind[]): void {
  if (hasKinds(tables, kinds)) return;
  tables.engine.transact(() => tables.meta.put(KINDS_KEY, packKinds(kinds)));
}

/** True where the kinds that go by a value are those that are kept. */
export function hasKinds(tables: DataTables, kinds: readonly PositiveKind[]): boolean {
  return packKinds(kinds).equals(Buffer.from(JSON.stringify(readKinds(tables))));
}

function packKinds(kinds: readonly PositiveKind[]): Buffer {
  return Buffer.from(JSON.stringify(kinds.filter(({ threshold }) => threshold !== undefined)));
}

export function writeTypes(tables: DataTables, types: readonly string[]): void {
  tables.meta.put(TYPES_KEY, Buffer.from(JSON.stringify(types)));
}

/** Of which store a folder is a replica, and up to which commit. */
export interface ReplicaOf extends Point {
  readonly identity: string;
  /** True where users are there once they are asked for. */
  readonly isPartial?: boolean;
}

/** Undefined for a folder that is no replica, or one that is not whole yet. */
export function readReplicaOf(tables: DataTables): ReplicaOf | undefined {
  return readJson<ReplicaOf>(tables, REPLICA_OF_KEY);
}

export function writeReplicaOf({ meta }: DataTables, replicaOf: ReplicaOf): void {
  meta.put(REPLICA_OF_KEY, Buffer.from(JSON.stringify(replicaOf)));
}

/** Notes that a replica holds everything up to this point. */
export function notePoint(tables: DataTables, { position, mark }: Point): void {
  const replicaOf = readReplicaOf(tables);
  if (replicaOf !== undefined) writeReplicaOf(tables, { ...replicaOf, position, mark });
}

function readJson<T>({ meta }: DataTables, key: Buffer): T | undefined {
  const bytes = meta.getBinary(key);
  return bytes && (JSON.parse(Buffer.from(bytes).toString()) as T);
}
