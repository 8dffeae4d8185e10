import { describe, expect, it } from 'vitest';
import { finish, fitAls } from '../../../bench/fit-in-thread.ts';
import { rowIndices } from '../../../src/dataset/interactions.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { hasBit } from '../../../src/memory/bits.ts';
import { viewOf } from '../../../src/memory/memory-layout.ts';
import { createSharedMemory } from '../../../src/memory/shared-memory.ts';
import { collaborativeModel, type LookedAt } from '../../../src/model/als/collaborative-model.ts';
import { MfScorer, placeModel } from '../../../src/model/als/mf-scorer.ts';
import { decodeModel, encodeModel } from '../../../src/model/als/model.ts';
import { checkerboard } from '../checkerboard.ts';

const instantiate = (memory: WebAssembly.Memory) => loadKernels(memory);
const board = checkerboard(30, 12);
const model = finish(fitAls(board, { factors: 6, epochs: 6, solver: 'cholesky' }, instantiate));
const placed = placeModel(model, instantiate, 2, 10);
const scorer = new MfScorer(placed, instantiate(placed.memory), 1);

describe('a saved factorization', () => {
  it('reads back as it was written but for the users, from any alignment', () => {
    const bytes = encodeModel({ ...model, quality: { 'NDCG@10': 0.5 } });
    const shifted = new Uint8Array(bytes.length + 1);
    shifted.set(bytes, 1);
    const saved = { ...model, userFactors: new Float32Array(0), quality: { 'NDCG@10': 0.5 } };
    expect(decodeModel(shifted.subarray(1))).toEqual(saved);
  });

  it('is refused when it is cut short, damaged, of another version or something else', () => {
    const bytes = encodeModel(model);
    const changed = (at: number) => bytes.with(at, bytes[at]! ^ 0xff);
    expect(() => decodeModel(bytes.subarray(0, bytes.length - 4))).toThrow('checksum');
    expect(() => decodeModel(bytes.subarray(0, 7))).toThrow('too short');
    expect(() => decodeModel(changed(bytes.length - 2))).toThrow('checksum');
    expect(() => decodeModel(changed(4))).toThrow('version');
    expect(() => decodeModel(changed(0))).toThrow('does not begin');
    expect(() => decodeModel(changed(17))).toThrow('checksum');
  });

  it('is refused for serving when its factors are not finite or do not fit its shape', () => {
    const itemFactors = model.itemFactors.with(3, Number.NaN);
    expect(() => placeModel({ ...model, itemFactors }, instantiate)).toThrow('not finite');
    expect(() => placeModel({ ...model, itemCount: 13 }, instantiate)).toThrow('shape');
  });
});

describe('a placed factorization', () => {
  it('knows which items anybody has liked without a look at their factors, in memory used before, too', () => {
    const f = model.itemFactors.length / model.itemCount;
    const unliked = [0, 5, model.itemCount - 1];
    const itemFactors = model.itemFactors.slice();
    for (const row of unliked) itemFactors.fill(0, row * f, (row + 1) * f);
    const used = (bytes: number) => {
      const memory = createSharedMemory(bytes);
      new Uint8Array(memory.buffer).fill(0xff);
      return memory;
    };
    const place = placeModel({ ...model, itemFactors }, instantiate, 1, 10, used);
    const bits = viewOf(place.memory, place.layout, 'liked', 'u32');
    const rows = Array.from({ length: model.itemCount }, (_, row) => row);
    expect(rows.filter((row) => !hasBit(bits, row))).toEqual(unliked);
    // Every thread opens every generation: what grows with the catalogue is done once, where it is placed.
    viewOf(place.memory, place.layout, 'itemFactors', 'f32').fill(0);
    const vector = new Float32Array(f).fill(1);
    const opened = collaborativeModel(place, new MfScorer(place, instantiate(place.memory), 0));
    const found = opened.topItems(vector, model.itemCount, () => true, { members: new Set(rows) });
    expect(found.rows.toSorted((a, b) => a - b)).toEqual(rows.filter((row) => !unliked.includes(row)));
  });

  it('folds a user in to the vector that training solved', () => {
    for (const user of [0, 7, 29]) {
      const trained = scorer.userVector(user)!;
      const folded = scorer.foldIn([...rowIndices(board.byUser, user)].reverse())!;
      for (let at = 0; at < trained.length; at++) expect(folded[at]).toBeCloseTo(trained[at]!, 4);
    }
  });

  it('passes over repeats and unknown items in a history', () => {
    expect(scorer.foldIn([2, 4, 2, 999])).toEqual(scorer.foldIn([4, 2]));
    expect(scorer.foldIn([999])).toBeNull();
    expect(scorer.foldIn([])).toBeNull();
  });

  it('leaves out excluded items', () => {
    const vector = scorer.userVector(0)!;
    const all = scorer.recommend(vector, 10);
    expect(all.itemRows).toHaveLength(10);
    expect([...scorer.recommend(vector, 3, [0, 2, 4, 500]).itemRows]).not.toEqual(
      expect.arrayContaining([0]),
    );
  });

  it('has the same lists for many users together as for each, however much they have read', () => {
    const allowed = Uint32Array.of(0b111101111111);
    // What so many rows past the model's own take leaves room for few users at once, and for one none at all.
    const beyond = (count: number) => Array.from({ length: count }, (_, at) => 100 + at);
    const asked = Array.from({ length: 30 }, (_, user) => ({
      vector: scorer.userVector(user)!,
      read: [user % 12, ...beyond([0, 20_000, 70_000][user % 3]!)],
    }));
    for (const [k, bits] of [
      [1, allowed],
      [3, undefined],
      [10, allowed],
    ] as const) {
      const one = asked.map(({ vector, read }) => scorer.recommend(vector, k, read, bits).itemRows);
      expect(scorer.recommendMany(asked, k, bits)).toEqual(one);
    }
    expect(scorer.recommendMany([], 3)).toEqual([]);
    expect(() => scorer.recommendMany(asked, 11)).toThrow(RangeError);
    const place = placeModel(model, instantiate, 1, 100);
    const served = collaborativeModel(place, new MfScorer(place, instantiate(place.memory)));
    const unread = (read: readonly number[]) => (row: number) => hasBit(allowed, row) && !read.includes(row);
    expect(served.topItemsOfMany(asked, 5, allowed).map((rows) => Array.from(rows))).toEqual(
      asked.map(({ vector, read }) => served.topItems(vector, 5, unread(read), { read, allowed }).rows),
    );
  });

  it('lists only rows that are allowed, in the same order', () => {
    const vector = scorer.userVector(0)!;
    const all = [...scorer.recommend(vector, 10).itemRows];
    const allowed = Uint32Array.of(0b101010110110);
    const found = [...scorer.recommend(vector, 10, [2], allowed).itemRows];
    expect(found.length).toBeGreaterThan(4);
    expect(found.filter((row) => row === 2 || !hasBit(allowed, row))).toEqual([]);
    expect(found.filter((row) => all.includes(row))).toEqual(
      all.filter((row) => row !== 2 && hasBit(allowed, row)),
    );
    expect(scorer.recommend(vector, 10, [], new Uint32Array(0)).itemRows).toHaveLength(0);
  });

  it('is looked through once, however many items are hidden', () => {
    const asked: number[] = [];
    const roomy = placeModel(model, instantiate, 1, 100);
    const own = new MfScorer(roomy, instantiate(roomy.memory));
    const counting = {
      header: own.header,
      recommend(...args: Parameters<MfScorer['recommend']>) {
        asked.push(args[1]);
        return own.recommend(...args);
      },
    } as unknown as MfScorer;
    const allowed = Uint32Array.of(0b1000001);
    const accept = (row: number) => hasBit(allowed, row);
    const served = collaborativeModel(roomy, counting);
    const { rows } = served.topItems(own.userVector(0)!, 2, accept, { allowed });
    expect([...rows].sort()).toEqual([0, 6]);
    expect(asked).toHaveLength(1);
  });

  it('is looked through for many members, and scores few one by one, with the same result', () => {
    const roomy = placeModel(model, instantiate, 1, 100);
    const own = new MfScorer(roomy, instantiate(roomy.memory));
    const vector = own.userVector(0)!;
    const scored: number[] = [];
    const counting = {
      header: own.header,
      recommend: own.recommend.bind(own),
      scoreItems(of: Float32Array, rows: readonly number[]) {
        scored.push(rows.length);
        return own.scoreItems(of, rows);
      },
    } as unknown as MfScorer;
    const served = collaborativeModel(roomy, counting);
    const members = new Set([1, 2, 4, 5, 7, 8, 10]);
    const allowed = Uint32Array.of([...members].reduce((bits, row) => bits | (1 << row), 0));
    const accept = (row: number) => members.has(row) && row !== 4;
    const top = (among: LookedAt) => {
      const { rows, scores } = served.topItems(vector, 5, accept, among);
      return new Map([...rows].map((row, at) => [row, scores[at]!]));
    };
    const wide = top({ members, allowed });
    expect([wide.size, scored]).toEqual([5, []]);
    const few = top({ members });
    // Fused multiply-adds round otherwise, so items that score alike to the last bits may change places.
    expect(new Set(few.keys())).toEqual(new Set(wide.keys()));
    for (const [row, score] of wide) expect(few.get(row)).toBeCloseTo(score, 5);
    expect(scored).toEqual([6]);
  });

  it('ranks as it scores', () => {
    const vector = scorer.userVector(3)!;
    const { itemRows, scores } = scorer.recommend(vector, 10);
    const again = scorer.scoreItems(vector, itemRows);
    for (let at = 0; at < scores.length; at++) expect(again[at]).toBeCloseTo(scores[at]!, 5);
  });

  it('knows no users that came after the training', () => {
    expect(scorer.userVector(30)).toBeNull();
  });

  it('refuses a list longer than it was placed for, and a vector of another length', () => {
    expect(() => scorer.recommend(scorer.userVector(0)!, 11)).toThrow(RangeError);
    expect(() => scorer.recommend(new Float32Array(3), 1)).toThrow(RangeError);
  });
});
