import { readRow, writeRow } from '../format/record-layout.ts';
import type { DataTables } from './data-tables.ts';
import { allEntries } from './engine.ts';
import { readState } from './meta-table.ts';

const KINDS = { user: 1, item: 2 } as const;
export type Kind = keyof typeof KINDS;

const NONE: ReadonlySet<number> = new Set();

/** Rows of the items that are being deleted: users' blocks may still name them. */
export function hiddenItems(tables: DataTables): ReadonlySet<number> {
  return readState(tables).deletions === 0 ? NONE : pendingDeletions(tables).items;
}

/** Rows of the users and items whose feedback is still being removed. */
export function pendingDeletions(tables: DataTables): Record<'users' | 'items', Set<number>> {
  const rows = { users: new Set<number>(), items: new Set<number>() };
  if (readState(tables).deletions === 0) return rows;
  for (const { key } of allEntries(tables.deletions)) {
    (deletedKind(key) === 'item' ? rows.items : rows.users).add(readRow(key, 1));
  }
  return rows;
}

export function deletedKind(key: Uint8Array): Kind {
  return key[0] === KINDS.item ? 'item' : 'user';
}

export function deletionKey(kind: Kind, row: number): Uint8Array {
  const key = new Uint8Array(5);
  key[0] = KINDS[kind];
  return writeRow(key, 1, row);
}
