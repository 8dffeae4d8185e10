/*
 * A feedback's type and time in one bigint, `type_time`: 12 bits of the type's number, and 52 of milliseconds since 1970 to
 * which 2 ** 51 is added. The words of it are those of a record of LMDB, so that a replica takes them as they are.
 */

/** Bits of the time. */
const TYPE_SHIFT = 52;
const TIME_BIAS = 2 ** 51;
const TYPE_MASK = 2 ** 12 - 1;
const TIME_MASK = 2 ** TYPE_SHIFT - 1;

/** SQL of the type's number. @param column SQL of a packed type and time */
export function typeOf(column: string): string {
  return `(${column} >> ${TYPE_SHIFT} & ${TYPE_MASK})::int2`;
}

/** SQL of the time, milliseconds since 1970. */
export function timeMsOf(column: string): string {
  return `((${column} & ${TIME_MASK}) - ${TIME_BIAS})`;
}
