/** Keeps what takes long to work out, for a time, of the keys that were worked out last. */
export class KeptForAWhile<K, T> {
  private readonly freshMs: number;
  private readonly most: number;
  private readonly kept = new Map<K, { readonly answer: Promise<T>; readonly madeMs: number }>();

  constructor(freshMs: number, most: number) {
    this.freshMs = freshMs;
    this.most = most;
  }

  /** Returns the kept value of a key, or works it out now; a failure is not kept. */
  of(key: K, nowMs: number, make: () => Promise<T>): Promise<T> {
    const { kept } = this;
    const known = kept.get(key);
    if (known !== undefined && Math.abs(nowMs - known.madeMs) < this.freshMs) return known.answer;
    kept.delete(key);
    const made = { answer: make(), madeMs: nowMs };
    made.answer.catch(() => kept.get(key) === made && kept.delete(key));
    kept.set(key, made);
    if (kept.size > this.most) kept.delete(kept.keys().next().value!);
    return made.answer;
  }
}
