import { expect, it } from 'vitest';
import { Arena } from '../../../src/memory/arena.ts';
import { LayoutBuilder } from '../../../src/memory/layout-builder.ts';
import { createSharedMemory } from '../../../src/memory/shared-memory.ts';
import {
  addLabelTable,
  fillLabelTable,
  LabelTable,
  labelTableBytes,
} from '../../../src/model/click/label-table.ts';

function tableOf(names: readonly string[]): LabelTable {
  const bytes = labelTableBytes(names).reduce((sum, size) => sum + size + 64, 64);
  const memory = createSharedMemory(bytes);
  const builder = new LayoutBuilder(new Arena(memory));
  addLabelTable(builder, 'names', names);
  const layout = builder.finish();
  fillLabelTable(memory, layout, 'names', names);
  return new LabelTable(memory, layout, 'names');
}

it('finds every name that it was given, and no other', () => {
  const names = [
    '',
    'a',
    '__proto__',
    'Ärger',
    '🎬 film',
    ...Array.from({ length: 5000 }, (_, at) => `n${at}`),
  ];
  const table = tableOf(names);
  expect(names.map((name) => table.numberOf(name))).toEqual(names.map((_, number) => number));
  for (const name of ['b', 'n5000', 'N1', 'a ', '🎬']) expect(table.numberOf(name)).toBe(-1);
});

it('may be empty', () => {
  expect(tableOf([]).numberOf('a')).toBe(-1);
  expect(tableOf([]).numberOf('')).toBe(-1);
});
