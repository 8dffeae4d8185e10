import { describe, expect, it } from 'vitest';
import { createRandom } from '../../../src/domain/random.ts';
import { ActiveUsers } from '../../../src/recommend/lists/active-users.ts';
import { Freshness } from '../../../src/recommend/lists/freshness.ts';
import type { ListVersions } from '../../../src/recommend/lists/list-versions.ts';
import { SeenLately } from '../../../src/recommend/placements/seen-lately.ts';
import type { SavedStates } from '../../../src/store/cache-store.ts';
import { NOW_MS } from '../../store/helpers.ts';

const USER = 3;
const SECOND_MS = 1000;
const DAY_MS = 86_400 * SECOND_MS;
const JUMPS_MS = [SECOND_MS, 60 * SECOND_MS, DAY_MS, 400 * DAY_MS, 4000 * DAY_MS];
const AGES = { refreshMs: 5 * DAY_MS, expireMs: 10 * DAY_MS, arrivalMs: 100 };

function savedStates(): SavedStates {
  const states = new Map<string, unknown>();
  return {
    getState: async (name: string) => states.get(name),
    putState: async (name: string, value: unknown) => void states.set(name, value),
  } as SavedStates;
}

/** Freshness while the clock jumps and all that it compares lists with goes on. */
class World {
  nowMs = NOW_MS;
  generation = 1;
  private movedMs = Number.NEGATIVE_INFINITY;
  private arrivedMs = Number.NEGATIVE_INFINITY;
  private validSinceMs = Number.NEGATIVE_INFINITY;
  private readonly states = savedStates();
  private readonly isVersioned: boolean;
  freshness: Freshness;

  constructor(isVersioned: boolean) {
    this.isVersioned = isVersioned;
    this.freshness = this.start();
  }

  async step(choice: number): Promise<void> {
    if (choice === 0) this.movedMs = this.nowMs;
    else if (choice === 1) this.arrivedMs = this.nowMs;
    else if (choice === 2) this.generation++;
    else if (choice === 3) this.freshness.endPass(this.nowMs);
    else if (choice === 4) this.validSinceMs = this.nowMs;
    else if (choice === 5) {
      await this.freshness.save(this.states);
      await this.restart();
    } else if (choice === 6) await this.restart();
    else this.verdict(this.nowMs);
  }

  verdict(madeMs: number): string {
    const list = { userRow: USER, madeMs, knowsMs: madeMs };
    return this.freshness.isOfToday({ ...list, basis: undefined }) || this.isVersioned
      ? this.freshness.of(list, undefined, this.nowMs)
      : 'of other settings';
  }

  private async restart(): Promise<void> {
    this.freshness = this.start();
    await this.freshness.restore(this.states);
  }

  private start(): Freshness {
    return new Freshness({
      clock: () => this.nowMs,
      ages: AGES,
      validSinceMs: this.validSinceMs,
      arrivedMs: () => this.arrivedMs,
      movedMs: () => this.movedMs,
      generation: () => this.generation,
      effects: { hasNews: () => false, hasExpired: () => false },
      versions: this.isVersioned ? ({ settings: '' } as unknown as ListVersions) : undefined,
    });
  }
}

describe.each([[false], [true]])('a clock that jumps, versions: %s', (isVersioned) => {
  it.each(Array.from({ length: 40 }, (_, seed) => [seed]))(
    'leaves no list old that is made after it, seed %i',
    async (seed) => {
      const random = createRandom(seed);
      const world = new World(isVersioned);
      for (let step = 0; step < 60; step++) {
        if (random.below(3) === 0) {
          const jump = JUMPS_MS[random.below(JUMPS_MS.length)]!;
          world.nowMs = Math.max(DAY_MS, world.nowMs + (random.below(2) === 0 ? jump : -jump));
        }
        world.nowMs += random.below(50);
        await world.step(random.below(8));
        if (step % 10 !== 9) continue;
        // Somebody asks; a list is made, and is good from then on while nothing happens.
        world.verdict(world.nowMs);
        world.nowMs += 1;
        const madeMs = world.nowMs;
        for (const laterMs of [0, 50, 2 * SECOND_MS, DAY_MS]) {
          world.nowMs = madeMs + laterMs;
          expect([step, laterMs, world.verdict(madeMs)]).toEqual([step, laterMs, 'good']);
        }
      }
    },
  );
});

it('what happened while the clock ran ahead makes lists of before old', () => {
  const world = new World(false);
  const madeMs = world.nowMs;
  world.nowMs += 400 * DAY_MS;
  world.freshness.endPass(world.nowMs);
  world.nowMs = madeMs + 10 * SECOND_MS;
  expect(world.verdict(madeMs)).toBe('old');
});

it('users who were seen while the clock ran ahead take no room for ever, and those seen since are active', () => {
  let nowMs = NOW_MS;
  const active = new ActiveUsers(30 * DAY_MS, () => nowMs);
  for (let jump = 50; jump > 0; jump--) {
    nowMs = NOW_MS + jump * 400 * DAY_MS;
    active.note(1);
    nowMs = NOW_MS;
    active.note(2);
    expect(isActive(active, 2)).toBe(true);
  }
  const periods = Reflect.get(active, 'periods') as ReadonlyMap<number, unknown>;
  expect(periods.size).toBeLessThan(3);
});

function isActive(active: ActiveUsers, row: number): boolean {
  const order = active.order(5);
  return [...(Reflect.get(order, 'periods') as [number, { has(row: number): boolean }][])].some(([, bits]) =>
    bits.has(row),
  );
}

it('what users were shown is read again once the clock is set back, also after a log that failed', async () => {
  let nowMs = NOW_MS + 400 * DAY_MS;
  let reads = 0;
  let fails = false;
  const ofUser = async () => {
    reads++;
    if (fails) throw new Error('away');
    return [];
  };
  const seen = new SeenLately({ ofUser }, () => nowMs);
  await seen.of('u');
  fails = true;
  await seen.of('v');
  expect(reads).toBe(2);
  nowMs = NOW_MS;
  await seen.of('u');
  await seen.of('v');
  expect(reads).toBeGreaterThan(2);
  fails = false;
  nowMs += 10 * SECOND_MS;
  reads = 0;
  await seen.of('u');
  await seen.of('v');
  expect(reads).toBe(2);
});
