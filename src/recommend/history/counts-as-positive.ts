/** Which feedback counts as positive. With no positive type configured, none does. */
export type TypeTest = (type: number) => boolean;

/** Which feedback counts as a like at a moment, by its type and its time in milliseconds since the epoch. */
export type LikeTest = (type: number, timeMs: number) => boolean;

/**
 * @param positiveTtlMs positive feedback older than this no longer counts as such; Infinity for never
 * @param untilMs feedback with a later time is not in effect yet
 */
export function likeTest(isPositive: TypeTest, positiveTtlMs: number, untilMs: number): LikeTest {
  const sinceMs = untilMs - positiveTtlMs;
  return (type, timeMs) => timeMs >= sinceMs && timeMs <= untilMs && isPositive(type);
}

/** A test that can be told that the store has given a number to another type. */
export interface NumberedTypeTest extends TypeTest {
  renumber(): void;
}

/**
 * Tells positive feedback by type number. The store numbers types as they first come, so the table of numbers is made
 * anew whenever a number is asked for that had no type. There may be gaps in it: types by value stand far behind others.
 */
export function typeTest(names: readonly string[], knownTypes: () => readonly string[]): NumberedTypeTest {
  const wanted = new Set(names);
  let table: boolean[] = [];
  const test = (type: number) => {
    if (table[type] === undefined) table = knownTypes().map((name) => wanted.has(name));
    return table[type] ?? false;
  };
  return Object.assign(test, {
    renumber() {
      table = [];
    },
  });
}
