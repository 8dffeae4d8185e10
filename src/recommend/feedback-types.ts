import type { TypeTest } from './history.ts';

/**
 * Tells positive feedback by type number. The store numbers types as they first come, so the table of numbers is made
 * anew whenever the store knows more types than before.
 */
export function typeTest(names: readonly string[], knownTypes: () => readonly string[]): TypeTest {
  const wanted = new Set(names);
  let table: boolean[] = [];
  return (type) => {
    if (type >= table.length) table = knownTypes().map((name) => wanted.has(name));
    return table[type] ?? false;
  };
}
