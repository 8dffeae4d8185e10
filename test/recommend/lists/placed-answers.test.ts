import { describe, expect, test } from 'vitest';
import { createRandom, type Random } from '../../../src/domain/random.ts';
import type { Catalogue } from '../../../src/recommend/catalogue/catalogue.ts';
import type { History } from '../../../src/recommend/history/history.ts';
import { AnswerCache } from '../../../src/recommend/lists/answer-cache.ts';
import { SLOT_BYTES, SLOT_ROWS } from '../../../src/recommend/lists/answer-slots.ts';
import { FeedbackColumns } from '../../../src/store/data-store.ts';

const [USERS, ITEMS, PLACES, STEPS] = [12, 80, 3, 4000];
const MINUTE_MS = 60_000;
const CLOCK_ERROR_MS = 500;
/** Ids of one and of two bytes a character, and one that has no room in a slot. */
const idOf = (user: number) => ['plain', 'größer', '用户', 'x'.repeat(60)][user % 4] + String(user);
const itemId = (row: number) => `${row % 3 === 0 ? '品' : 'item'}-${row}${'y'.repeat(row % 30)}`;

/** What a plain map knows of an answer that was kept. */
interface Kept {
  readonly user: number;
  readonly rows: readonly number[];
  readonly source: string;
  readonly madeMs: number;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** The cache beside a map that forgets nothing but what it has to. */
class Beside {
  nowMs = Date.UTC(2026, 0, 1);
  private readonly map = new Map<string, Kept>();
  private readonly hidden = new Set<number>();
  private readonly gone = new Set<number>();
  private readonly marks = new Map<number, number>();
  private readonly random: Random;
  private readonly cache: AnswerCache;

  constructor(seed: number, slots: number) {
    this.random = createRandom(seed);
    this.cache = new AnswerCache({
      bytesMax: (slots * (SLOT_BYTES + 1) * 4) / 3,
      catalogue: {
        isListable: (row: number) => !this.hidden.has(row),
        jsonIdAt: (row: number) => JSON.stringify(itemId(row)),
      } as Catalogue,
      clock: () => this.nowMs,
      clockErrorMs: CLOCK_ERROR_MS,
      isStale: () => true,
      isKnown: (userRow) => !this.gone.has(userRow),
    });
  }

  /** Does one thing at random. @returns whether an answer was asked for, found, and known to the map */
  step(): { readonly found: boolean; readonly known: boolean } | undefined {
    const { random } = this;
    const user = random.below(USERS);
    const what = random.below(20);
    if (what < 9) return this.ask(user);
    if (what < 14) this.keep(user);
    else if (what === 14) this.nowMs += random.below(20_000) - 8000;
    else if (what === 15) toggle(this.hidden, random.below(3));
    else if (what === 16) this.marks.set(user, this.cache.markOf(user));
    else if (what === 17) toggle(this.gone, random.below(3));
    else if (what === 18) this.forget(user);
    else this.cache.dropList(user);
    return undefined;
  }

  private keep(user: number): void {
    const { random, nowMs } = this;
    const place = random.below(PLACES);
    const n = 1 + random.below(SLOT_ROWS + 5);
    const length = random.below(3) === 0 ? random.below(n + 1) : n;
    const from = random.below(ITEMS);
    const rows = Array.from({ length }, (_, at) => (from + at * 7) % ITEMS);
    const source = `source ${random.below(4)}`;
    const inEffectSinceMs = nowMs - random.below(20_000);
    const nextEffectMs = nowMs + random.below(2 * MINUTE_MS);
    const untilMs = random.below(2) === 0 ? nowMs + random.below(MINUTE_MS) : Number.POSITIVE_INFINITY;
    const current = this.cache.markOf(user);
    const mark = this.marks.get(user) ?? current;
    this.marks.delete(user);
    const history = { userRow: user, inEffectSinceMs, nextEffectMs } as History;
    this.cache.keepPlaced(place, idOf(user), history, rows, source, { n, mark, untilMs });
    const isKept = n <= SLOT_ROWS && length > 0 && idOf(user).length <= 37 && mark === current;
    if (!isKept) return;
    const times = { madeMs: nowMs, fromMs: inEffectSinceMs, untilMs: Math.min(untilMs, nextEffectMs) };
    this.map.set(keyOf(place, n, user), { user, rows, source, ...times });
  }

  /** By a commit. */
  private forget(user: number): void {
    const added = new FeedbackColumns();
    added.push(user, 1, 0, this.nowMs);
    for (const _ of this.cache.follow({ added, removed: new FeedbackColumns(), deletedUserRows: [] }));
    for (const [key, kept] of this.map) if (kept.user === user) this.map.delete(key);
  }

  private ask(user: number) {
    const { random, nowMs } = this;
    const mine = [...this.map.keys()].filter((key) => this.map.get(key)!.user === user);
    const key = random.below(4) > 0 && mine.length > 0 ? mine[random.below(mine.length)]! : keyOf(0, 9, user);
    const [place, n] = key.split(' ').map(Number) as [number, number];
    const barred = random.below(8) === 0 ? random.below(ITEMS) : -1;
    const version = random.float();
    const mayStand = (row: number) => row !== barred;
    const found = this.cache.findPlaced(place, idOf(user), n, { version, mayStand });
    const kept = this.map.get(key);
    const untilMs = nowMs + CLOCK_ERROR_MS;
    const isRight =
      kept !== undefined &&
      untilMs >= kept.fromMs &&
      untilMs < kept.untilMs &&
      Math.abs(nowMs - kept.madeMs) <= MINUTE_MS &&
      kept.rows.every((row) => !this.hidden.has(row) && row !== barred);
    if (found !== undefined) {
      expect(isRight).toBe(true);
      expect(JSON.parse(found)).toEqual(kept!.rows.map(itemId));
      expect(this.cache.foundSource).toBe(kept!.source);
      expect(this.cache.foundUserRow).toBe(user);
    }
    return { found: found !== undefined, known: isRight };
  }
}

function keyOf(place: number, n: number, user: number): string {
  return `${place} ${n} ${user}`;
}

function toggle(set: Set<number>, value: number): void {
  if (!set.delete(value)) set.add(value);
}

describe.each([1, 2, 3, 4, 5])('answers of placements that are kept (seed %s)', (seed) => {
  test('with room for all, are those that a plain map has, no more and no fewer', () => {
    const beside = new Beside(seed, 16_384);
    let answered = 0;
    for (let step = 0; step < STEPS; step++) {
      const asked = beside.step();
      if (asked === undefined) continue;
      expect(asked.found).toBe(asked.known);
      if (asked.found) answered++;
    }
    expect(answered).toBeGreaterThan(STEPS / 20);
  });

  test('with room for sixteen, are right where there are any', () => {
    const beside = new Beside(seed, 16);
    let answered = 0;
    for (let step = 0; step < STEPS; step++) if (beside.step()?.found) answered++;
    expect(answered).toBeGreaterThan(STEPS / 100);
  });

  test('without room, are none', () => {
    const beside = new Beside(seed, 0);
    for (let step = 0; step < STEPS; step++) expect(beside.step()?.found ?? false).toBe(false);
  });
});
