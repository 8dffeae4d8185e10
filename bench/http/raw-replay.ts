import { performance } from 'node:perf_hooks';
import type { Feedback } from '../../src/domain/entities.ts';
import type { WriteCommand } from '../../src/store/data-store.ts';
import { type DataTables, openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import type { Table } from '../../src/store/lmdb/tables/engine.ts';
import { GroupWriter } from '../../src/store/lmdb/writer/group-writer.ts';
import { WRITE_RULES } from './processes.ts';

export interface Put {
  readonly table: TableName;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

type TableName = Exclude<keyof DataTables, 'engine'>;

/** Writes batches into a folder of its own and notes every put that LMDB is given for each of them. */
export class PutRecorder {
  private readonly tables: DataTables;
  private readonly writer: GroupWriter;
  private puts: Put[] = [];

  constructor(path: string) {
    this.tables = openDataTables(path);
    const { engine: _, ...tables } = this.tables;
    for (const name of Object.keys(tables) as TableName[]) this.listen(name, tables[name]);
    this.writer = new GroupWriter(this.tables, WRITE_RULES);
  }

  /** The puts of one batch of feedback, in order, with bytes of their own. */
  record(records: readonly Feedback[]): Put[] {
    return this.recordCommand({ kind: 'putFeedback', overwrite: false, batch: { records } });
  }

  /** The same of any write. */
  recordCommand(command: WriteCommand): Put[] {
    this.puts = [];
    this.writer.write([{ kind: 'write', ticket: 0, nowMs: 0, command }]);
    return this.puts;
  }

  async close(): Promise<void> {
    await this.tables.engine.close();
  }

  private listen(name: TableName, table: Table): void {
    const put = table.put.bind(table) as (key: Uint8Array, value: Uint8Array) => Promise<boolean>;
    table.put = ((key: Uint8Array, value: Uint8Array) => {
      this.puts.push({ table: name, key: key.slice(), value: value.slice() });
      return put(key, value);
    }) as Table['put'];
  }
}

/** Gives LMDB puts as they are, a transaction a batch, which is flushed as it is committed. */
export class RawWriter {
  private readonly tables: DataTables;

  constructor(path: string) {
    this.tables = openDataTables(path);
  }

  /** Writes one batch and flushes it, all on this thread. @returns what that took, milliseconds */
  writeOne(puts: readonly Put[]): number {
    const { engine } = this.tables;
    const start = performance.now();
    engine.transact(() => {
      for (const { table, key, value } of puts) this.tables[table].put(key, value);
    });
    return performance.now() - start;
  }

  /** Everything is on the disk when it returns. */
  write(batches: readonly (readonly Put[])[]): void {
    for (const puts of batches) this.writeOne(puts);
  }

  async close(): Promise<void> {
    await this.tables.engine.close();
  }
}
