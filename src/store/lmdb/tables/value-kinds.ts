import { kindOf, type PositiveKind } from '../../../domain/positive-feedback-types.ts';
import { decodeOccurrences, type Occurrences } from '../../repeats.ts';
import { FEEDBACK_TYPES_MAX, TRIPLE_BYTES, writeTriple } from '../format/record-layout.ts';
import type { DataTables } from './data-tables.ts';
import { readBytes } from './engine.ts';
import { readKinds } from './meta-table.ts';

/** The key of the value that is read: histories are read a value at a time, so none is made for each. */
const key = new Uint8Array(TRIPLE_BYTES);

/**
 * Feedback types by value. A type such as `rating` may be positive from a value on; feedback that is, is read under a
 * number of its own beyond those that are stored, whose name is that of the kind (`rating>=4`). So everything that
 * tells types apart by their numbers tells these apart as well, and only the store knows of values.
 */
export class ValueKinds {
  private readonly tables: DataTables;
  private readonly kinds: readonly PositiveKind[];
  private readonly typeNames: ReadonlySet<string>;

  constructor(tables: DataTables) {
    this.tables = tables;
    this.kinds = readKinds(tables);
    this.typeNames = new Set(this.kinds.map(({ feedbackType }) => feedbackType));
  }

  /** True when no type goes by a value, as in most stores. */
  get isEmpty(): boolean {
    return this.kinds.length === 0;
  }

  /** True when feedback of the type is to be told apart by its value. */
  concern(typeName: string): boolean {
    return this.typeNames.has(typeName);
  }

  /** The number under which a feedback is read. @param value 0 when it carries none */
  numberOf(type: number, typeName: string, value: number): number {
    const kind = kindOf(this.kinds, typeName, value);
    return kind === undefined ? type : FEEDBACK_TYPES_MAX + this.kinds.indexOf(kind);
  }

  /** Names by number: those stored, and far behind them those of the kinds. */
  namesBeside(stored: readonly string[]): readonly string[] {
    if (this.isEmpty) return stored;
    const names = [...stored];
    for (const [at, { name }] of this.kinds.entries()) names[FEEDBACK_TYPES_MAX + at] = name;
    return names;
  }

  /** The value of a stored feedback, 0 for none. */
  valueOf(userRow: number, itemRow: number, type: number): number {
    return readValue(this.tables, userRow, itemRow, type);
  }
}

/** The value of a stored feedback, 0 for none. */
export function readValue(tables: DataTables, userRow: number, itemRow: number, type: number): number {
  const bytes = readBytes(tables.values, writeTriple(key, userRow, itemRow, type));
  return bytes === undefined ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getFloat64(0, true);
}

/** The events of a stored feedback; undefined for one that happened once. */
export function readOccurrences(
  tables: DataTables,
  userRow: number,
  itemRow: number,
  type: number,
): Occurrences | undefined {
  const bytes = readBytes(tables.repeats, writeTriple(key, userRow, itemRow, type));
  return bytes === undefined ? undefined : decodeOccurrences(bytes);
}

/** A value as it is stored. */
export function packValue(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value, true);
  return bytes;
}
