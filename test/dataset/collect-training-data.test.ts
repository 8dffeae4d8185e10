import { describe, expect, it } from 'vitest';
import { holdOut } from '../../bench/quality/hold-out.ts';
import { collectTrainingData } from '../../src/dataset/collect-training-data.ts';
import { fingerprintOfAll } from '../../src/dataset/fingerprint.ts';
import { buildInteractions } from '../../src/dataset/interactions.ts';
import type { TrainingData } from '../../src/dataset/training-data.ts';
import { createRandom } from '../../src/domain/random.ts';
import { collected } from './collected.ts';

/** Users take items 0 to 9 one after the other, the last one twice: the second record is of another kind. */
function pairs(userCount: number) {
  const userRows: number[] = [];
  const itemRows: number[] = [];
  const times: number[] = [];
  for (let user = 0; user < userCount; user++) {
    for (const item of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]) {
      userRows.push(user);
      itemRows.push(item);
      times.push(times.length === 0 ? 0 : userCount * item + user);
    }
  }
  return { userRows, itemRows, times };
}

/** The pairs of a matrix by rows of the store. */
function pairsOf({ interactions: { byUser }, rows }: TrainingData): string[] {
  return Array.from(rows.users, (user, row) =>
    Array.from(
      byUser.indices.subarray(byUser.indptr[row], byUser.indptr[row + 1]),
      (item) => `${user} ${rows.items[item]}`,
    ),
  ).flat();
}

/** Scattered users and items, some pairs twice. */
function scattered() {
  const random = createRandom(9);
  const columns = { userRows: [] as number[], itemRows: [] as number[], times: [] as number[] };
  for (let at = 0; at < 4000; at++) {
    columns.userRows.push(3 * random.below(300));
    columns.itemRows.push(5 * random.below(40));
    columns.times.push(random.below(1000));
  }
  return columns;
}

describe('what is collected', () => {
  it('is the same matrix as columns make', () => {
    const columns = scattered();
    const weights = columns.times.map((time) => time + 1);
    const { interactions, rows } = collected({ ...columns, weights }, { leavesOut: false });
    const expected = buildInteractions({
      userCount: rows.users.length,
      itemCount: rows.items.length,
      userRows: columns.userRows.map((row) => rows.users.indexOf(row)),
      itemRows: columns.itemRows.map((row) => rows.items.indexOf(row)),
      weights,
    });
    expect(interactions).toEqual(expected);
  });

  it('has rows for users and items with feedback alone', () => {
    const { rows, interactions } = collected(scattered(), { userRowCount: 1_000_000, leavesOut: false });
    expect(interactions.userCount).toBe(new Set(scattered().userRows).size);
    expect(interactions.itemCount).toBe(40);
    expect([...rows.items]).toEqual(Array.from({ length: 40 }, (_, at) => 5 * at));
    expect([...rows.users].every((row) => row % 3 === 0)).toBe(true);
  });

  it('lies in shared memory', () => {
    const { interactions, rows, heldOut } = collected(pairs(600));
    const { byUser, byItem } = interactions;
    for (const array of [
      byUser.indices,
      byUser.indptr,
      byItem.indices,
      byItem.indptr,
      rows.users,
      rows.items,
      heldOut.userRows,
    ]) {
      expect(array.buffer).toBeInstanceOf(SharedArrayBuffer);
    }
  });

  it('is nothing where there is no feedback', () => {
    const options = { userRowCount: 3, itemRowCount: 3, weighted: false, leavesOut: true, seed: 1 };
    expect(collectTrainingData(() => {}, options)).toBeUndefined();
  });
});

describe('leaving out what is held out', () => {
  it('keeps every other pair', () => {
    const data = collected(pairs(600));
    const { heldOut, rows } = data;
    const held = new Set(
      Array.from(heldOut.userRows, (user, at) => `${rows.users[user]} ${rows.items[heldOut.itemRows[at]!]}`),
    );
    const { userRows, itemRows } = pairs(600);
    const all = [...new Set(userRows.map((user, at) => `${user} ${itemRows[at]}`))];
    expect(held.size).toBe(heldOut.userRows.length);
    expect(held.size).toBeGreaterThan(100);
    expect(pairsOf(data)).toEqual(all.filter((pair) => !held.has(pair)));
    expect(data.positives).toBe(all.length);
  });

  it('leaves out every record of a pair held out', () => {
    const { heldOut } = collected(pairs(600));
    expect(holdOut(pairs(600), 1).judged.positions.length).toBeGreaterThan(heldOut.userRows.length);
  });

  it('keeps everything where nothing is held out', () => {
    const data = collected(pairs(10));
    expect(data.interactions.count).toBe(100);
    expect(data.heldOut.userRows).toHaveLength(0);
  });

  it('has a fingerprint that sees a pair which is held out, and whose pairs they are', () => {
    const { interactions, heldOut, rows, fingerprint } = collected(pairs(600));
    const other = { ...heldOut, itemRows: heldOut.itemRows.with(0, 5) };
    expect(fingerprintOfAll(interactions, heldOut, rows)).toBe(fingerprint);
    expect(fingerprintOfAll(interactions, other, rows)).not.toBe(fingerprint);
    const moved = { ...rows, users: rows.users.map((row) => row + 1) };
    expect(fingerprintOfAll(interactions, heldOut, moved)).not.toBe(fingerprint);
  });
});

describe('a sample of the users', () => {
  it('has whole users, about as many as asked for, the same ones each time', () => {
    const all = collected(scattered(), { leavesOut: false });
    const some = collected(scattered(), { leavesOut: false, shareOf: () => 0.5 });
    expect(some.userShare).toBe(0.5);
    expect(some.rows.users.length).toBeGreaterThan(100);
    expect(some.rows.users.length).toBeLessThan(200);
    const known = new Set(some.rows.users);
    expect(pairsOf(some)).toEqual(pairsOf(all).filter((pair) => known.has(Number(pair.split(' ')[0]))));
    expect(some.positives).toBe(all.positives);
    expect(collected(scattered(), { leavesOut: false, shareOf: () => 0.5 }).fingerprint).toBe(
      some.fingerprint,
    );
  });

  it('is judged by its own users', () => {
    const { heldOut, interactions } = collected(pairs(3000), { shareOf: () => 0.3 });
    expect(heldOut.userRows.length).toBeGreaterThan(20);
    expect(Math.max(...heldOut.userRows)).toBeLessThan(interactions.userCount);
  });

  it('is asked for with what there is', () => {
    const asked: unknown[] = [];
    collected(pairs(50), {
      shareOf: (counts) => {
        asked.push(counts);
        return 1;
      },
    });
    expect(asked).toEqual([{ users: 50, items: 10, pairs: 500 }]);
  });
});
