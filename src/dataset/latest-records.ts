/** One of the records kept, by where it stands in the order in which they were offered. */
export interface DatedRecord {
  readonly position: number;
  readonly userRow: number;
  readonly itemRow: number;
  readonly time: number;
}

/**
 * The latest records of a stream, at most a given number: 28 bytes each, however long the stream is. Of one time those
 * with the lower hash count as later, and of one hash those that came first. A heap with the first to go at its top.
 */
export class LatestRecords {
  private readonly most: number;
  private count = 0;
  private times = new Float64Array(1024);
  private hashes = new Uint32Array(1024);
  private positions = new Float64Array(1024);
  private users = new Uint32Array(1024);
  private items = new Uint32Array(1024);

  /** @param most above 0 */
  constructor(most: number) {
    this.most = most;
  }

  /** @param hashOf asked only where the time is late enough */
  offer(position: number, userRow: number, itemRow: number, time: number, hashOf: () => number): void {
    if (this.count === this.most) {
      if (time < this.times[0]!) return;
      const hash = hashOf();
      const isLater = time > this.times[0]! || hash < this.hashes[0]!;
      if (isLater) this.sink(0, time, hash, position, userRow, itemRow);
      return;
    }
    if (this.count === this.times.length) this.grow();
    this.rise(this.count++, time, hashOf(), position, userRow, itemRow);
  }

  /** Records that are kept, the latest first. */
  sorted(): DatedRecord[] {
    const order = Array.from({ length: this.count }, (_, at) => at);
    order.sort((a, b) => (this.goesFirst(a, this.times[b]!, this.hashes[b]!, this.positions[b]!) ? 1 : -1));
    return order.map((at) => ({
      position: this.positions[at]!,
      userRow: this.users[at]!,
      itemRow: this.items[at]!,
      time: this.times[at]!,
    }));
  }

  /** True when the record at a place goes before the one described: it is earlier. */
  private goesFirst(at: number, time: number, hash: number, position: number): boolean {
    if (this.times[at] !== time) return this.times[at]! < time;
    if (this.hashes[at] !== hash) return this.hashes[at]! > hash;
    return this.positions[at]! > position;
  }

  private rise(at: number, time: number, hash: number, position: number, user: number, item: number): void {
    let place = at;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.goesFirst(parent, time, hash, position)) break;
      this.move(parent, place);
      place = parent;
    }
    this.put(place, time, hash, position, user, item);
  }

  private sink(at: number, time: number, hash: number, position: number, user: number, item: number): void {
    let place = at;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= this.count) break;
      const right = child + 1;
      if (
        right < this.count &&
        this.goesFirst(right, this.times[child]!, this.hashes[child]!, this.positions[child]!)
      ) {
        child = right;
      }
      if (!this.goesFirst(child, time, hash, position)) break;
      this.move(child, place);
      place = child;
    }
    this.put(place, time, hash, position, user, item);
  }

  private move(from: number, to: number): void {
    this.put(
      to,
      this.times[from]!,
      this.hashes[from]!,
      this.positions[from]!,
      this.users[from]!,
      this.items[from]!,
    );
  }

  private put(at: number, time: number, hash: number, position: number, user: number, item: number): void {
    this.times[at] = time;
    this.hashes[at] = hash;
    this.positions[at] = position;
    this.users[at] = user;
    this.items[at] = item;
  }

  private grow(): void {
    const capacity = Math.min(this.most, this.times.length * 2);
    const { times, hashes, positions, users, items } = this;
    (this.times = new Float64Array(capacity)).set(times);
    (this.hashes = new Uint32Array(capacity)).set(hashes);
    (this.positions = new Float64Array(capacity)).set(positions);
    (this.users = new Uint32Array(capacity)).set(users);
    (this.items = new Uint32Array(capacity)).set(items);
  }
}
