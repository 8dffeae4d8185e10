/**
 * Names in shared memory with the number of each, so that every thread can look labels up without a map of its own: a
 * hash table with linear probing (Knuth, The Art of Computer Programming 3, 6.4 L) over UTF-16 text.
 */

import { hashText } from '../../domain/hash.ts';
import { type ArrayPlan, arrayOf, type MemoryLayout, viewOf } from '../../memory/memory-layout.ts';

/** The table is at most half full. */
const LOAD = 2;

/** The arrays of a table called `prefix`; `fillLabelTable` writes them. */
export function labelTablePlans(prefix: string, names: readonly string[]): ArrayPlan[] {
  const textLength = names.reduce((sum, name) => sum + name.length, 0);
  return [
    [`${prefix}Starts`, 'u32', [names.length + 1]],
    [`${prefix}Text`, 'u8', [textLength * 2]],
    // A power of two.
    [`${prefix}Slots`, 'u32', [2 ** Math.ceil(Math.log2(Math.max(1, names.length * LOAD)))]],
  ];
}

/** @param names distinct; the number of a name is its place */
export function fillLabelTable(
  memory: WebAssembly.Memory,
  layout: MemoryLayout,
  prefix: string,
  names: readonly string[],
): void {
  const table = new LabelTable(memory, layout, prefix);
  let next = 0;
  for (const [number, name] of names.entries()) {
    next = table.write(number, name, next);
  }
}

/** One thread's view of a table. */
export class LabelTable {
  readonly #starts: Uint32Array;
  readonly #text: Uint16Array;
  /** A name's number plus one; 0 is free. */
  readonly #slots: Uint32Array;

  constructor(memory: WebAssembly.Memory, layout: MemoryLayout, prefix: string) {
    this.#starts = viewOf(memory, layout, `${prefix}Starts`, 'u32');
    const { offset, shape } = arrayOf(layout, `${prefix}Text`);
    this.#text = new Uint16Array(memory.buffer, offset, shape[0]! / 2);
    this.#slots = viewOf(memory, layout, `${prefix}Slots`, 'u32');
  }

  /** The number of a name; -1 when it is unknown. */
  numberOf(name: string): number {
    return this.#slots[this.#slotOf(name)]! - 1;
  }

  /** Adds a name; for `fillLabelTable`. @param next where its text begins @returns where the next one does */
  write(number: number, name: string, next: number): number {
    for (let at = 0; at < name.length; at++) this.#text[next + at] = name.charCodeAt(at);
    this.#starts[number + 1] = next + name.length;
    this.#slots[this.#slotOf(name)] = number + 1;
    return next + name.length;
  }

  /** The slot that holds the name, or the free one where it would go. */
  #slotOf(name: string): number {
    const mask = this.#slots.length - 1;
    let slot = hashOf(name) & mask;
    while (this.#slots[slot] !== 0 && !this.#holds(this.#slots[slot]! - 1, name)) slot = (slot + 1) & mask;
    return slot;
  }

  #holds(number: number, name: string): boolean {
    const start = this.#starts[number]!;
    if (this.#starts[number + 1]! - start !== name.length) return false;
    for (let at = 0; at < name.length; at++) {
      if (this.#text[start + at] !== name.charCodeAt(at)) return false;
    }
    return true;
  }
}

/** Mixed once more for the low bits. */
function hashOf(name: string): number {
  const hash = hashText(name);
  return (hash ^ (hash >>> 15)) >>> 0;
}
