/** Texts that mean nobody, in place of the number of a customer. */
const NOBODY =
  /^(?:-1|none|null|nil|nan|n\/a|undefined|unknown|unbekannt|\(?not set\)?|guests?|guest (?:user|customer|checkout)|g[aä]ste?|anon(?:ym(?:ous|e|o|)?)?|walk-?in|walk-?in customer|invit[eé]e?|invitado|ospite|laufkund(?:e|schaft)|cash customer)$/i;
const ZERO = /^0+$/;
/** True for an id that may mean nobody. */
export const mayBeNobody = (userId: string) => ZERO.test(userId) || NOBODY.test(userId);
/** Users whose rows are counted. */
const KEPT = 1000;
/** A zero that has more rows than any other user so many times is no user, among users of any number. */
const ZERO_TIMES = 2;
/** One of at least so many users that has this share of all rows, and so many times those of any other, is hardly one. */
const [ONE_OF, ONE_SHARE, ONE_TIMES] = [20, 0.1, 5];

/** Ids under which hardly one user alone is found, with their rows. */
export interface Guests {
  /** Those that mean nobody. */
  readonly nobody: ReadonlyMap<string, number>;
  /** One with far more rows than any user has. */
  readonly busiest?: { readonly id: string; readonly rows: number } | undefined;
}

/** Counts the rows of the users with the most of them, in flat memory (Misra and Gries, Finding repeated elements, 1982). */
export class BusyUsers {
  private readonly counts = new Map<string, number>();
  private readonly nobody = new Map<string, number>();
  private rows = 0;
  /** Rows by which a count may be too low. */
  private lost = 0;
  private hasFirst = false;

  add(userId: string): void {
    this.rows++;
    if (userId === '1') this.hasFirst = true;
    if (this.counts.has(userId)) increase(this.counts, userId);
    else if (mayBeNobody(userId)) increase(this.nobody, userId);
    else if (this.counts.size < KEPT) increase(this.counts, userId);
    else this.loseOne();
  }

  private loseOne(): void {
    this.lost++;
    for (const [id, count] of this.counts)
      if (count === 1) this.counts.delete(id);
      else this.counts.set(id, count - 1);
  }

  /** A zero is the first user where the next is 1, unless it has far more rows than any. */
  find(): Guests {
    const [[first, most] = ['', 0], [, second] = ['', 0]] = [...this.counts].sort(([, a], [, b]) => b - a);
    if (this.counts.size === 0) return { nobody: new Map() };
    const isNobody = (id: string, rows: number) =>
      !ZERO.test(id) || !this.hasFirst || rows > ZERO_TIMES * (most + this.lost);
    const nobody = new Map([...this.nobody].filter(([id, rows]) => isNobody(id, rows)));
    const isBusy = most > ONE_SHARE * this.rows && most > ONE_TIMES * (second + this.lost);
    const busiest = isBusy && this.counts.size >= ONE_OF ? { id: first, rows: most } : undefined;
    return { nobody, busiest };
  }
}

function increase(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
