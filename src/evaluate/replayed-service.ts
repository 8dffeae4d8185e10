import type { Config } from '../config/config.ts';
import {
  eachVectors,
  feedbackOf,
  fillStore,
  itemOf,
  OwnService,
  type Recommend,
  userOf,
} from './own-service.ts';
import type { ReplayPlan } from './replay-plan.ts';

const BATCH = 100;

/** A service of its own whose clock goes through the last part of the data, and which is told of it as it goes. */
export class ReplayedService {
  private readonly plan: ReplayPlan;
  private readonly service = new OwnService('furze-replay-');
  private readonly rowOf: ReadonlyMap<string, number>;
  /** 1 for users and items that the service knows. */
  private readonly knowsUser: Uint8Array;
  private readonly knowsItem: Uint8Array;
  /** Items that come at a time of their own, latest first. */
  private readonly coming: { readonly item: number; readonly ms: number }[] = [];
  private nowMs: number;

  private constructor(plan: ReplayPlan) {
    const { past, timesMs } = plan.timeline;
    this.plan = plan;
    this.rowOf = new Map(past.itemIds.map((id, row) => [id, row]));
    this.knowsUser = new Uint8Array(past.userIds.length);
    this.knowsItem = new Uint8Array(past.itemIds.length);
    this.nowMs = timesMs[plan.from]! - 1;
  }

  /** Starts it with what was known before the part that is replayed. */
  static async start(plan: ReplayPlan, config: Config, recommend: Recommend): Promise<ReplayedService> {
    const replayed = new ReplayedService(plan);
    try {
      await replayed.open(config, recommend);
      return replayed;
    } catch (error) {
      await replayed.close();
      throw error;
    }
  }

  private async open(config: Config, recommend: Recommend): Promise<void> {
    const beganMs = this.nowMs - performance.now();
    await this.service.start(config, recommend, {
      clock: () => this.nowMs,
      // Time that a replay leaps over has passed for budgets, too.
      elapsedMs: () => performance.now() + this.nowMs - beganMs,
    });
    const { timeline, from } = this.plan;
    for (let at = 0; at < from; at++) this.knowsUser[timeline.userRows[at]!] = 1;
    const items = new Map<number, number>();
    for (let item = 0; item < this.knowsItem.length; item++) {
      const ms = timeline.knownFromMs(item);
      if (ms <= this.nowMs || timeline.firstOfItem[item]! < from) items.set(item, ms);
      else this.coming.push({ item, ms });
    }
    this.coming.sort((a, b) => b.ms - a.ms);
    for (const item of items.keys()) this.knowsItem[item] = 1;
    const users = Array.from(this.knowsUser.keys()).filter((row) => this.knowsUser[row] === 1);
    await fillStore(this.service.data, timeline.past, {
      users,
      items,
      feedback: timeline.order.subarray(0, from),
    });
  }

  async fit(nowMs: number, onStage: (stage: string) => void): Promise<void> {
    this.nowMs = Math.max(this.nowMs, nowMs);
    await this.service.fit(onStage);
  }

  /** Tells of the records from one index up to another. */
  async tell(from: number, end: number): Promise<void> {
    const { timeline } = this.plan;
    const { past, order, timesMs, itemRows, userRows } = timeline;
    for (let first = from; first < end; first += BATCH) {
      const indices = order.subarray(first, Math.min(first + BATCH, end));
      const last = first + indices.length - 1;
      await this.moveTo(timesMs[last]!);
      for (let at = first; at <= last; at++) {
        await this.introduce(itemRows[at]!, timesMs[at]!);
        this.knowsUser[userRows[at]!] = 1;
      }
      const records = Array.from(indices, (at) => feedbackOf(past, at));
      await this.service.send('/api/feedback', records);
    }
  }

  /** The list of a user at a moment, as item rows. A user of whom more is known than an id has signed up before. */
  async ask(user: number, nowMs: number, n: number): Promise<Uint32Array> {
    const { past } = this.plan.timeline;
    await this.moveTo(nowMs);
    if (this.knowsUser[user] === 0 && hasLabels(past.users[user]?.Labels)) {
      await this.service.send('/api/users', [userOf(past, user)]);
      this.knowsUser[user] = 1;
    }
    return this.items(
      await this.service.send(`/api/recommend/${encodeURIComponent(past.userIds[user]!)}?n=${n}`),
    );
  }

  /** Asks what comes next in a session, as item rows. @param indices its records */
  async askSession(indices: Uint32Array, n: number): Promise<Uint32Array> {
    const { past, order } = this.plan.timeline;
    const records = Array.from(indices, (at) => ({ ...feedbackOf(past, order[at]!), UserId: '' }));
    return this.items(await this.service.send(`/api/session/recommend?n=${n}`, records));
  }

  close(): Promise<void> {
    return this.service.close();
  }

  /** Moves the clock on; what has come by then is told of. */
  private async moveTo(nowMs: number): Promise<void> {
    this.nowMs = Math.max(this.nowMs, nowMs);
    while (this.coming.length > 0 && this.coming.at(-1)!.ms < this.nowMs) {
      const { item, ms } = this.coming.pop()!;
      // One that comes by its first record is told of with that.
      if (this.plan.timeline.timesMs[this.plan.timeline.firstOfItem[item]!] !== ms)
        await this.introduce(item, ms);
    }
  }

  private async introduce(item: number, ms: number): Promise<void> {
    if (this.knowsItem[item] === 1) return;
    this.knowsItem[item] = 1;
    const { past } = this.plan.timeline;
    await this.service.send('/api/items', [itemOf(past, item, ms)]);
    await eachVectors(past, [item], (space, records) =>
      this.service.send(`/api/vectors/${encodeURIComponent(space)}`, records),
    );
  }

  private items(answer: unknown): Uint32Array {
    return Uint32Array.from(
      answer as readonly (string | { Id: string })[],
      (each) => this.rowOf.get(typeof each === 'string' ? each : each.Id)!,
    );
  }
}

function hasLabels(labels: unknown): boolean {
  return typeof labels === 'object' && labels !== null && Object.keys(labels).length > 0;
}
