import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EMPTY_ITEM } from '../../src/domain/entity-fields.ts';
import type { WriteCommand } from '../../src/store/data-store.ts';
import { type DataTables, openDataTables } from '../../src/store/lmdb/tables/data-tables.ts';
import { GroupWriter } from '../../src/store/lmdb/writer/group-writer.ts';
import { NOW_MS, storeOptions, tempFolder } from './helpers.ts';

type TableName = Exclude<keyof DataTables, 'engine'>;

/** A writer, and what its engine is asked for by table: entries put, and cursors opened. */
function countedWriter() {
  const folder = tempFolder();
  const tables = openDataTables(join(folder, 'data'));
  const writer = new GroupWriter(tables, storeOptions(folder));
  const puts: string[] = [];
  const cursors: string[] = [];
  const { engine, ...named } = tables;
  for (const name of Object.keys(named) as TableName[]) {
    const table = named[name] as unknown as Record<'put' | 'getKeys', (...args: unknown[]) => unknown>;
    for (const [method, counted] of [
      ['put', puts],
      ['getKeys', cursors],
    ] as const) {
      const original = table[method].bind(table);
      table[method] = (...args) => {
        counted.push(name);
        return original(...args);
      };
    }
  }
  const write = (...commands: WriteCommand[]) => {
    puts.length = 0;
    cursors.length = 0;
    const group = writer.write(
      commands.map((command, ticket) => ({ kind: 'write', ticket, nowMs: NOW_MS, command })),
    );
    expect(group.answers.map(({ error }) => error)).toEqual(commands.map(() => undefined));
    return group;
  };
  return { engine, write, puts, cursors };
}

function feedback(UserId: string, ItemId: string): WriteCommand {
  const record = { FeedbackType: 'like', UserId, ItemId, Timestamp: '2024-01-01T00:00:00Z', Comment: '' };
  return { kind: 'putFeedback', overwrite: false, batch: { records: [record] } };
}

it('puts each entry of a lone feedback once, and looks for none that it knows', async () => {
  const { engine, write, puts, cursors } = countedWriter();
  write(feedback('bob', 'a'), feedback('bob', 'b'), feedback('eve', 'a'));
  write(feedback('eve', 'b'));
  expect([...puts].sort()).toEqual(['itemFeedback', 'meta', 'recentFeedback', 'userFeedback']);
  expect(cursors).toEqual([]);
  await engine.close();
});

it('sends a few items to the thread that serves as they are', async () => {
  const { engine, write } = countedWriter();
  const item = { ...EMPTY_ITEM, ItemId: 'a', Labels: ['x'] };
  const { changes } = write({ kind: 'putItems', batch: { records: [item] } });
  expect(changes[0]!.items).toMatchObject([{ itemId: 'a', row: 0 }]);
  await engine.close();
});
