import { getOrPut } from '../../domain/get-or-put.ts';

interface Cap {
  /** 0 for as many as there are. */
  readonly most: number;
  readonly namesAt: (row: number) => readonly string[];
}

/** Keeps count of the places at which the entries of an answer have one name. */
export class ShownCounts {
  private readonly caps: readonly (Cap & { readonly places: Map<string, number[]> })[];
  private readonly window: number;
  private readonly pinned = new Set<number>();
  private next = 1;

  /**
   * @param window so many entries in a row have a name `most` times; Infinity for all entries
   * @param pins entries that have a place already, by place; each other takes the next one that is free
   */
  constructor(
    caps: readonly Cap[],
    window = Number.POSITIVE_INFINITY,
    pins: readonly { readonly row: number; readonly place: number }[] = [],
  ) {
    this.caps = caps.filter(({ most }) => most > 0).map((cap) => ({ ...cap, places: new Map() }));
    this.window = window;
    let last = 0;
    for (const { row, place } of pins) {
      last = Math.max(place, last + 1);
      this.pinned.add(last);
      this.noteAt(last, row);
    }
    this.skipPins();
  }

  /** Place of the entry that comes next, from 1. */
  get nextPlace(): number {
    return this.next;
  }

  /** The next place where the row may stand there, else a later one at which it may be asked again; Infinity for none. */
  placeFor(row: number): number {
    let from = this.next;
    for (const { most, namesAt, places } of this.caps)
      for (const name of namesAt(row)) from = Math.max(from, this.freeFrom(places.get(name) ?? [], most));
    return from;
  }

  /** Gives the row the next place. */
  note(row: number): void {
    this.noteAt(this.next++, row);
    this.skipPins();
  }

  /** @param places of a name, rising; those of pins may lie ahead */
  private freeFrom(places: readonly number[], most: number): number {
    const { next, window } = this;
    if (places.length < most) return next;
    if (window === Number.POSITIVE_INFINITY) return window;
    let before = places.length;
    while (before > 0 && places[before - 1]! > next) before--;
    for (let ahead = 0; ahead <= Math.min(most, places.length - before); ahead++) {
      const behind = most - ahead;
      if (behind > before) continue;
      const first = behind > 0 ? places[before - behind]! : next;
      const last = ahead > 0 ? places[before + ahead - 1]! : next;
      if (last - first < window) return ahead > 0 ? next + 1 : first + window;
    }
    return next;
  }

  private noteAt(place: number, row: number): void {
    for (const { namesAt, places } of this.caps)
      for (const name of namesAt(row)) {
        const known = getOrPut(places, name, () => []);
        known.splice(known.findLastIndex((other) => other < place) + 1, 0, place);
      }
  }

  private skipPins(): void {
    while (this.pinned.has(this.next)) this.next++;
  }
}
