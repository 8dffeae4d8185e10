import { FurzeError } from '../../src/domain/furze-error.ts';
import type { ChangeSet, DataStore, WriteCommand, WriteResult } from '../../src/store/data-store.ts';
import { fromPlain, resultFromPlain } from '../../src/store/lmdb/changes/change-log.ts';
import { LmdbDataReader } from '../../src/store/lmdb/reads/lmdb-data-reader.ts';
import { openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import type { WriteRules } from '../../src/store/lmdb/tables/writer-messages.ts';
import { GroupWriter } from '../../src/store/lmdb/writer/group-writer.ts';
import { NOW_MS } from './helpers.ts';

/** The LMDB store with its writer on the calling thread: quick to open, and groups are what the test makes them. */
export class DirectStore extends LmdbDataReader implements DataStore {
  readonly changes: ChangeSet[] = [];
  private readonly writer: GroupWriter;

  constructor(dataPath: string, rules: WriteRules) {
    super(openDataTables(dataPath));
    this.writer = new GroupWriter(this.tables, rules);
  }

  async write(command: WriteCommand): Promise<WriteResult> {
    return (await this.writeGroup([command]))[0]!;
  }

  /** Writes commands as one group; throws the first refusal after all are done. */
  async writeGroup(commands: readonly WriteCommand[]): Promise<WriteResult[]> {
    const writes = commands.map(
      (command, ticket) => ({ kind: 'write', ticket, nowMs: NOW_MS, command }) as const,
    );
    const { answers, changes } = this.writer.write(writes);
    this.changes.push(...changes.map(fromPlain));
    const refused = answers.find(({ error }) => error !== undefined);
    if (refused) throw FurzeError.fromPlain(refused.error!);
    return [...answers].sort((a, b) => a.ticket - b.ticket).map(({ result }) => resultFromPlain(result!));
  }

  /** Carries on with a long deletion. @returns false when there is none */
  slice(): boolean {
    if (!this.writer.hasSlices) return false;
    this.changes.push(...this.writer.slice().changes.map(fromPlain));
    return true;
  }

  onChange(): void {}

  backup(): never {
    throw new Error('not here');
  }

  async ping(): Promise<void> {}
}
