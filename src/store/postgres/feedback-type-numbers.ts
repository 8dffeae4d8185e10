import { FurzeError } from '../../domain/furze-error.ts';
import { FEEDBACK_TYPES_MAX } from '../lmdb/format/record-layout.ts';

/** The feedback types and their numbers while a group is carried out. A number means one type for ever, or until it has no feedback. */
export class FeedbackTypeNumbers {
  /** Types that are not stored yet. */
  readonly fresh: [type: number, name: string][] = [];
  private readonly numbers: Map<string, number>;
  private readonly names: Map<number, string>;

  constructor(stored: readonly (readonly [type: number, name: string])[]) {
    this.numbers = new Map(stored.map(([type, name]) => [name, type]));
    this.names = new Map(stored);
  }

  get size(): number {
    return this.numbers.size;
  }

  /** The number of a type, undefined for one that no feedback ever had. */
  numberOf(name: string): number | undefined {
    return this.numbers.get(name);
  }

  nameOf(type: number): string {
    return this.names.get(type)!;
  }

  /**
   * Gives numbers to those types that have none.
   * @throws FurzeError INVALID_BODY, before anything is changed, when there are not enough
   */
  add(names: readonly string[]): void {
    const fresh = new Set(names.filter((name) => !this.numbers.has(name)));
    if (this.size + fresh.size > FEEDBACK_TYPES_MAX)
      throw new FurzeError('INVALID_BODY', `There can be at most ${FEEDBACK_TYPES_MAX} feedback types.`);
    let type = 0;
    for (const name of fresh) {
      while (this.names.has(type)) type++;
      this.names.set(type, name);
      this.numbers.set(name, type);
      this.fresh.push([type, name]);
    }
  }

  /** Takes the numbers of these types back. */
  remove(types: readonly number[]): void {
    for (const type of types) {
      this.numbers.delete(this.names.get(type)!);
      this.names.delete(type);
    }
  }
}
