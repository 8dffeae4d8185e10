import { hashText, spreadBits } from '../domain/hash.ts';

/** Pairs and events of them that are kept; of more, half of the users are let go. */
const KEPT_MAX = 400_000;
const WORD = 2 ** 32;

interface Counts {
  records: number;
  repeats: number;
}

interface OfUser {
  readonly seen: Set<number>;
  readonly counts: Map<string, Counts>;
}

/** Tells of a sample of the users how much of a type of feedback is of an item that they had come to before. */
export class RepeatShare {
  private readonly users = new Map<number, OfUser>();
  private mask = 0;
  private kept = 0;

  /** Takes a record; one of the same moment as another is the same event. */
  add(type: string, userId: string, itemId: string, timeMs: number): void {
    const user = spreadBits(hashText(userId)) >>> 0;
    if ((user & this.mask) !== 0) return;
    let known = this.users.get(user);
    if (known === undefined) this.users.set(user, (known = { seen: new Set(), counts: new Map() }));
    const { seen, counts } = known;
    const pair = keyOf(`${type}\n${itemId}`);
    const event = keyOf(`${type}\n${itemId}\n${timeMs}`);
    if (seen.has(event)) return;
    let ofType = counts.get(type);
    if (ofType === undefined) counts.set(type, (ofType = { records: 0, repeats: 0 }));
    ofType.records++;
    if (seen.has(pair)) ofType.repeats++;
    this.kept += seen.has(pair) ? 1 : 2;
    seen.add(pair).add(event);
    while (this.kept > KEPT_MAX && this.mask < 0xffff) this.halve();
  }

  /** The share of repeats of a type, 0 to 1. */
  of(type: string): number {
    let records = 0;
    let repeats = 0;
    for (const { counts } of this.users.values()) {
      records += counts.get(type)?.records ?? 0;
      repeats += counts.get(type)?.repeats ?? 0;
    }
    return records === 0 ? 0 : repeats / records;
  }

  private halve(): void {
    this.mask = this.mask * 2 + 1;
    for (const [user, { seen }] of this.users) {
      if ((user & this.mask) === 0) continue;
      this.kept -= seen.size;
      this.users.delete(user);
    }
  }
}

/** 53 bits of a text, nearly always its own. */
function keyOf(text: string): number {
  const high = spreadBits(hashText(`${text}\n`)) & 0x1fffff;
  return high * WORD + hashText(text);
}
