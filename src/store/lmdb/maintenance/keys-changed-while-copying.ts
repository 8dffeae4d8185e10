import { getOrPut } from '../../../domain/get-or-put.ts';
import type { DataTables, TableName } from '../tables/data-tables.ts';
import type { Table } from '../tables/engine.ts';

/** A key as text: one character a byte. */
type KeyText = string;

/**
 * Notes the keys that are written or removed while a store is copied, where the copy has been already. Only the writes
 * of this thread are seen, which is the one that writes.
 */
export class KeysChangedWhileCopying {
  private readonly tables: DataTables;
  private readonly names: readonly TableName[];
  private readonly isCopied: (name: TableName, key: Uint8Array) => boolean;
  private touched = new Map<TableName, Set<KeyText>>();

  constructor(
    tables: DataTables,
    names: readonly TableName[],
    isCopied: (name: TableName, key: Uint8Array) => boolean,
  ) {
    this.tables = tables;
    this.names = names;
    this.isCopied = isCopied;
    for (const name of names) this.listen(name, tables[name]);
  }

  /** The keys noted since the last call, by table. */
  take(): ReadonlyMap<TableName, ReadonlySet<KeyText>> {
    const { touched } = this;
    this.touched = new Map();
    return touched;
  }

  /** Notes nothing more. */
  end(): void {
    for (const name of this.names) {
      const table = this.tables[name] as Partial<Table>;
      delete table.put;
      delete table.remove;
    }
  }

  /** Puts methods of its own before those of the table's class. */
  private listen(name: TableName, table: Table): void {
    const { put, remove } = table;
    Object.assign(table, {
      put: (key: Uint8Array, ...rest: unknown[]) => {
        this.note(name, key);
        return Reflect.apply(put, table, [key, ...rest]);
      },
      remove: (key: Uint8Array, ...rest: unknown[]) => {
        this.note(name, key);
        return Reflect.apply(remove, table, [key, ...rest]);
      },
    });
  }

  private note(name: TableName, key: Uint8Array): void {
    if (!this.isCopied(name, key)) return;
    const keys = getOrPut(this.touched, name, () => new Set());
    keys.add(Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1'));
  }
}
