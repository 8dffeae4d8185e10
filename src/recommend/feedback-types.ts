import type { TypeTest } from './history.ts';

/** A test that can be told that the store has given a number to another type. */
export interface NumberedTypeTest extends TypeTest {
  renumber(): void;
}

/**
 * Tells positive feedback by type number. The store numbers types as they first come, so the table of numbers is made
 * anew whenever the store knows more types than before.
 */
export function typeTest(names: readonly string[], knownTypes: () => readonly string[]): NumberedTypeTest {
  const wanted = new Set(names);
  let table: boolean[] = [];
  const test = (type: number) => {
    if (type >= table.length) table = knownTypes().map((name) => wanted.has(name));
    return table[type] ?? false;
  };
  return Object.assign(test, {
    renumber() {
      table = [];
    },
  });
}
