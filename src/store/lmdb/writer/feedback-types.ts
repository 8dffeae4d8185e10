import { FurzeError } from '../../../domain/furze-error.ts';
import { FEEDBACK_TYPES_MAX, readType, typeUserKey } from '../format/record-layout.ts';
import type { DataTables } from '../tables/data-tables.ts';
import { firstKey } from '../tables/engine.ts';
import { readTypes, type StoreState, writeTypes } from '../tables/meta-table.ts';

/**
 * The feedback types and their numbers, as the writer knows them. Numbers are few, so one whose feedback is all gone is
 * given again, but only when there is no fresh one left: so long as they last, a number means one type.
 */
export class FeedbackTypes {
  private readonly tables: DataTables;
  private readonly state: StoreState;
  private readonly list: string[];
  private readonly numbers: Map<string, number>;
  /** False when a search for types without feedback was in vain and none was removed since. */
  private mayFindEmpty = true;
  private keepsNumbers = false;

  constructor(tables: DataTables, state: StoreState) {
    this.tables = tables;
    this.state = state;
    this.list = readTypes(tables);
    this.numbers = new Map(this.list.map((name, type) => [name, type]));
  }

  get names(): readonly string[] {
    return this.list;
  }

  /** The number of a type that there is. */
  numberOf(name: string): number {
    return this.numbers.get(name)!;
  }

  /** Feedback was removed, so a type may have none now. */
  noteRemoval(): void {
    this.mayFindEmpty = true;
  }

  /** From now on no number is given again: the tables do not show of which types there is feedback. */
  keepNumbers(): void {
    this.keepsNumbers = true;
  }

  /**
   * Gives numbers to those types that have none.
   * @throws FurzeError INVALID_BODY, before anything is written, when there are not enough
   */
  add(names: readonly string[]): void {
    const fresh = new Set<string>();
    for (const name of names) if (!this.numbers.has(name)) fresh.add(name);
    if (fresh.size === 0) return;
    const missing = this.list.length + fresh.size - FEEDBACK_TYPES_MAX;
    const empty = missing > 0 ? this.findEmpty(missing, new Set(names)) : [];
    if (empty.length < missing) {
      throw new FurzeError('INVALID_BODY', `There can be at most ${FEEDBACK_TYPES_MAX} feedback types.`);
    }
    for (const name of fresh) this.numbers.set(name, this.place(name, empty));
    this.state.feedbackTypes = this.list.length;
    writeTypes(this.tables, this.list);
  }

  private place(name: string, empty: number[]): number {
    const type = empty.pop();
    if (type === undefined) return this.list.push(name) - 1;
    this.numbers.delete(this.list[type]!);
    this.list[type] = name;
    this.state.typesVersion++;
    return type;
  }

  /** Numbers of types without feedback, as many as asked for if there are; none of the names in `kept`. */
  private findEmpty(count: number, kept: ReadonlySet<string>): number[] {
    const found: number[] = [];
    if (!this.mayFindEmpty || this.keepsNumbers) return found;
    for (let type = 0; type < this.list.length && found.length < count; type++) {
      if (!kept.has(this.list[type]!) && !this.hasUsers(type)) found.push(type);
    }
    if (found.length === 0) this.mayFindEmpty = false;
    return found;
  }

  private hasUsers(type: number): boolean {
    const key = firstKey(this.tables.typeUsers, typeUserKey(type, 0));
    return key !== undefined && readType(key, 0) === type;
  }
}
