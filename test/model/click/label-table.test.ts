import { expect, it } from 'vitest';
import { layOut, plannedBytes } from '../../../src/memory/memory-layout.ts';
import { createSharedMemory } from '../../../src/memory/shared-memory.ts';
import { fillLabelTable, LabelTable, labelTablePlans } from '../../../src/model/click/label-table.ts';

function tableOf(names: readonly string[]): LabelTable {
  const plans = labelTablePlans('names', names);
  const memory = createSharedMemory(plannedBytes(plans));
  const layout = layOut(memory, plans);
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
