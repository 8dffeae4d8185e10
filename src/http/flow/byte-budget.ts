/** A bound on bytes that many requests hold at the same time. */
export class ByteBudget {
  readonly bytesMax: number;
  private held = 0;

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  get heldBytes(): number {
    return this.held;
  }

  /** Takes bytes, all or none. @param spared bytes that are left to others @returns false when they do not fit */
  take(bytes: number, spared = 0): boolean {
    if (this.held + bytes > this.bytesMax - spared) return false;
    this.held += bytes;
    return true;
  }

  /** Takes bytes that are there already, whether they fit or not: until some are given back nobody else gets any. */
  add(bytes: number): void {
    this.held += bytes;
  }

  /** Gives back what was taken. */
  give(bytes: number): void {
    this.held -= bytes;
  }
}
