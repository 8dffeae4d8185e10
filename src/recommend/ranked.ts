/** Item or user rows with their scores, best first; equal scores stand in row order. */
export interface Ranked {
  readonly rows: number[];
  readonly scores: number[];
}

/** The first `k` entries that pass. */
export function filterRanked(
  ranked: { readonly rows: ArrayLike<number>; readonly scores: ArrayLike<number> },
  k: number,
  accept: (row: number) => boolean,
): Ranked {
  const rows: number[] = [];
  const scores: number[] = [];
  for (let at = 0; at < ranked.rows.length && rows.length < k; at++) {
    if (!accept(ranked.rows[at]!)) continue;
    rows.push(ranked.rows[at]!);
    scores.push(ranked.scores[at]!);
  }
  return { rows, scores };
}

/** The entries of both, which have no row in common, best first. */
export function mergeRanked(some: Ranked, others: Ranked): Ranked {
  const rows: number[] = [];
  const scores: number[] = [];
  let next = 0;
  const take = ({ rows: from, scores: fromScores }: Ranked, at: number) => {
    rows.push(from[at]!);
    scores.push(fromScores[at]!);
  };
  for (let at = 0; at < some.rows.length; at++) {
    const [row, score] = [some.rows[at]!, some.scores[at]!];
    while (next < others.rows.length && isBetter(others.rows[next]!, others.scores[next]!, row, score))
      take(others, next++);
    take(some, at);
  }
  while (next < others.rows.length) take(others, next++);
  return { rows, scores };
}

/**
 * Keeps the best `k` of a stream of (row, score) in a binary heap whose root is the worst kept.
 * Order is total (higher score first, then lower row), so a shorter list is a prefix of a longer one.
 */
export class TopK {
  private readonly k: number;
  private readonly rows: number[] = [];
  private readonly scores: number[] = [];

  constructor(k: number) {
    this.k = k;
  }

  /** Whether `push` would keep it. */
  takes(row: number, score: number): boolean {
    const { rows, scores, k } = this;
    return rows.length < k || (k > 0 && isBetter(row, score, rows[0]!, scores[0]!));
  }

  push(row: number, score: number): void {
    const { rows, scores, k } = this;
    if (rows.length < k) {
      rows.push(row);
      scores.push(score);
      this.siftUp(rows.length - 1);
    } else if (k > 0 && isBetter(row, score, rows[0]!, scores[0]!)) {
      rows[0] = row;
      scores[0] = score;
      this.siftDown();
    }
  }

  /** What an entry must at least score to be kept. */
  get scoreMin(): number {
    return this.rows.length < this.k
      ? Number.NEGATIVE_INFINITY
      : (this.scores[0] ?? Number.POSITIVE_INFINITY);
  }

  /** The kept entries, best first. The heap must not be used after. */
  sorted(): Ranked {
    const order = this.rows.map((_, at) => at);
    order.sort((a, b) => this.scores[b]! - this.scores[a]! || this.rows[a]! - this.rows[b]!);
    return { rows: order.map((at) => this.rows[at]!), scores: order.map((at) => this.scores[at]!) };
  }

  private siftUp(from: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.isWorse(at, parent)) break;
      this.swap(at, parent);
      at = parent;
    }
  }

  private siftDown(): void {
    const size = this.rows.length;
    let at = 0;
    for (;;) {
      let worst = at;
      const left = 2 * at + 1;
      if (left < size && this.isWorse(left, worst)) worst = left;
      if (left + 1 < size && this.isWorse(left + 1, worst)) worst = left + 1;
      if (worst === at) return;
      this.swap(at, worst);
      at = worst;
    }
  }

  private isWorse(a: number, b: number): boolean {
    return isBetter(this.rows[b]!, this.scores[b]!, this.rows[a]!, this.scores[a]!);
  }

  private swap(a: number, b: number): void {
    const { rows, scores } = this;
    [rows[a], rows[b]] = [rows[b]!, rows[a]!];
    [scores[a], scores[b]] = [scores[b]!, scores[a]!];
  }
}

function isBetter(row: number, score: number, otherRow: number, otherScore: number): boolean {
  return score > otherScore || (score === otherScore && row < otherRow);
}
