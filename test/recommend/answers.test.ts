import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Feedback } from '../../src/domain/entities.ts';
import { fillCheckerboard, ITEMS, record, type Scene, SECOND_MS, startScene, USERS } from './scene.ts';

const CATEGORIES = ['even', 'odd', 'low', 'extra'];
/** Longer than any answer can be. */
const ALL = 2 * ITEMS;

const item = fc.integer({ min: 0, max: ITEMS + 4 }).map((at) => `i${at}`);
const category = fc.constantFrom(...CATEGORIES);
const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const step = fc.oneof(
  fc.record({ kind: kind('read'), item }),
  fc.record({ kind: kind('read later'), item, seconds: fc.integer({ min: 6, max: 60 }) }),
  fc.record({ kind: kind('like'), item }),
  fc.record({ kind: kind('forget'), item }),
  fc.record({ kind: kind('hide'), item }),
  fc.record({ kind: kind('show'), item }),
  fc.record({ kind: kind('delete'), item }),
  fc.record({ kind: kind('insert'), item, hidden: fc.boolean(), categories: fc.subarray(CATEGORIES) }),
  fc.record({ kind: kind('put category'), item, category }),
  fc.record({ kind: kind('drop category'), item, category }),
  fc.record({ kind: kind('wait'), seconds: fc.integer({ min: 1, max: 100_000 }) }),
  fc.record({ kind: kind('ask'), category: fc.option(category) }),
  fc.record({ kind: kind('take'), n: fc.integer({ min: 1, max: 3 }) }),
);
/** A list is made again at most so often for what has happened. */
const LISTS_MADE_MAX = 2;

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let scene: Scene;
/** What there is. */
const items = new Map<string, { hidden: boolean; categories: Set<string> }>();

beforeAll(async () => {
  scene = await startScene({
    cache_size: 8,
    offline: {
      enable_latest_recommend: true,
      enable_popular_recommend: true,
      enable_user_based_recommend: true,
      enable_item_based_recommend: true,
      explore_recommend: { popular: 0.2, latest: 0.2 },
    },
    online: { fallback_recommend: ['collaborative', 'item_based', 'user_based', 'popular', 'latest'] },
  });
  await fillCheckerboard(scene);
  for (let at = 0; at < ITEMS; at++) {
    const categories = new Set([at % 2 === 0 ? 'even' : 'odd', at < 10 ? 'low' : 'high']);
    items.set(`i${at}`, { hidden: false, categories });
  }
  scene.time.nowMs += SECOND_MS;
  await scene.server.service.fit();
});
afterAll(() => scene.server.stop());

/** One user's walk, with what it has read and from when on. */
class Walk {
  private readonly userId: string;
  private readonly readMs = new Map<string, number>();

  constructor(userId: string) {
    this.userId = userId;
  }

  /** Notes what the user has read before. */
  async begin(): Promise<void> {
    const path = `/api/user/${this.userId}/feedback`;
    for (const { ItemId } of (await scene.send('GET', path)) as Feedback[]) await this.look(ItemId);
  }

  async take(step: Step, size: number): Promise<void> {
    switch (step.kind) {
      case 'read':
      case 'like':
        return this.give(step.kind, step.item, scene.time.nowMs);
      case 'read later':
        return this.give('read', step.item, scene.time.nowMs + step.seconds * SECOND_MS);
      case 'forget':
        this.readMs.delete(step.item);
        await scene.send('DELETE', `/api/feedback/${this.userId}/${step.item}`);
        return;
      case 'wait':
        scene.time.nowMs += step.seconds * SECOND_MS;
        return;
      case 'ask':
        return this.ask(size, step.category ?? undefined);
      case 'take':
        return this.writeBack(step.n);
      default:
        return this.alter(step);
    }
  }

  /** Asks for everything, again where the answer was out of an older list while another was made. */
  private async askAll(path: string, category: string | undefined): Promise<string[]> {
    let before: string[] | undefined;
    for (let made = 0; made <= LISTS_MADE_MAX; made++) {
      const whole = await scene.ids(`${path}?n=${ALL}`);
      expect(new Set(whole).size).toBe(whole.length);
      expect(whole.filter((id) => !this.mayShow(id, category))).toEqual([]);
      if (whole.join() === before?.join()) return whole;
      before = whole;
    }
    throw new Error('while nothing happens each answer is another');
  }

  /** Asks for everything at once and for pages of it. */
  async ask(size: number, category?: string): Promise<void> {
    const path = `/api/recommend/${this.userId}${category === undefined ? '' : `/${category}`}`;
    const whole = await this.askAll(path, category);
    const pages: string[] = [];
    for (let offset = 0; offset < whole.length + size; offset += size)
      pages.push(...(await scene.ids(`${path}?n=${size}&offset=${offset}`)));
    expect(pages).toEqual(whole);
  }

  private mayShow(id: string, category: string | undefined): boolean {
    const known = items.get(id);
    if (known === undefined || known.hidden) return false;
    if (category !== undefined && !known.categories.has(category)) return false;
    // Feedback is in effect up to clock_error, 5 seconds, before its time.
    return (this.readMs.get(id) ?? Number.POSITIVE_INFINITY) > scene.time.nowMs + 5 * SECOND_MS;
  }

  private async give(type: string, id: string, timeMs: number): Promise<void> {
    await scene.send('PUT', '/api/feedback', [record(type, this.userId, id, new Date(timeMs).toISOString())]);
    await this.look(id);
    // Feedback makes an item that is gone anew.
    if (!items.has(id)) items.set(id, { hidden: false, categories: new Set() });
  }

  private async writeBack(n: number): Promise<void> {
    const answer = await scene.ids(`/api/recommend/${this.userId}?n=${n}&write-back-type=read`);
    expect(answer.filter((id) => !this.mayShow(id, undefined))).toEqual([]);
    for (const id of answer) await this.look(id);
  }

  /** Notes from when on the item is read: the earliest of what is stored of it. */
  private async look(id: string): Promise<void> {
    const stored = (await scene.send('GET', `/api/feedback/${this.userId}/${id}`)) as Feedback[];
    expect(stored.length).toBeGreaterThan(0);
    this.readMs.set(id, Math.min(...stored.map(({ Timestamp }) => Date.parse(Timestamp))));
  }

  private async alter(
    step: Extract<Step, { kind: 'hide' | 'show' | 'delete' | 'insert' | 'put category' | 'drop category' }>,
  ) {
    const path = `/api/item/${step.item}`;
    const known = items.get(step.item);
    if (step.kind === 'insert') {
      items.set(step.item, { hidden: step.hidden, categories: new Set(step.categories) });
      const Timestamp = new Date(scene.time.nowMs).toISOString();
      const body = { ItemId: step.item, IsHidden: step.hidden, Categories: step.categories, Timestamp };
      await scene.send('POST', '/api/item', { ...body, Labels: ['made'] });
    } else if (step.kind === 'delete') {
      items.delete(step.item);
      this.readMs.delete(step.item);
      await scene.send('DELETE', path);
    } else if (known !== undefined && step.kind === 'put category') {
      known.categories.add(step.category);
      await scene.send('PUT', `${path}/category/${step.category}`);
    } else if (known !== undefined && step.kind === 'drop category') {
      known.categories.delete(step.category);
      await scene.send('DELETE', `${path}/category/${step.category}`);
    } else if (known !== undefined) {
      known.hidden = step.kind === 'hide';
      await scene.send('PATCH', path, { IsHidden: known.hidden });
    }
  }
}

it('never answers a hidden, deleted, read, repeated or foreign item, and pages fit together, whatever happens', async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 1, max: 7 }),
      async (steps, size) => {
        // Every other walk is that of a user who was there before the fit.
        const walk = new Walk(round % 2 === 0 ? `new${round}` : `u${round % USERS}`);
        round++;
        await walk.begin();
        for (const each of steps) await walk.take(each, size);
        await walk.ask(size);
      },
    ),
    { numRuns: 60 },
  );
});
