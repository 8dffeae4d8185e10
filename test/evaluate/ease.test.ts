import { expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { Ease } from '../../src/evaluate/ease.ts';
import { Timeline } from '../../src/evaluate/timeline.ts';
import { pastOf, type TestRecord } from './past-of-records.ts';

const [USERS, ITEMS] = [40, 12];

/** The inverse of a matrix by Gauss and Jordan. */
function inverted(matrix: readonly (readonly number[])[]): number[][] {
  const n = matrix.length;
  const rows = matrix.map((row, at) => [...row, ...row.map((_, column) => (column === at ? 1 : 0))]);
  for (let pivot = 0; pivot < n; pivot++) {
    const scale = rows[pivot]![pivot]!;
    rows[pivot] = rows[pivot]!.map((value) => value / scale);
    for (let row = 0; row < n; row++) {
      if (row === pivot) continue;
      const factor = rows[row]![pivot]!;
      rows[row] = rows[row]!.map((value, at) => value - factor * rows[pivot]![at]!);
    }
  }
  return rows.map((row) => row.slice(n));
}

it('scores as the closed form says, of the likes before a moment', () => {
  const random = createRandom(5);
  const records = Array.from(
    { length: 300 },
    (_, at): TestRecord => [random.below(USERS), random.below(ITEMS), at],
  );
  const timeline = new Timeline(pastOf(records));
  const before = 200;
  const counts = new Float64Array(ITEMS);
  const gram = Array.from({ length: ITEMS }, (_, row) =>
    Array.from({ length: ITEMS }, (_, column) => (row === column ? 500 : 0)),
  );
  for (let user = 0; user < USERS; user++) {
    const items = [...timeline.itemsOf(timeline.likesOf(user, before))];
    for (const one of items) for (const other of items) gram[one]![other]!++;
    for (const item of items) counts[item]!++;
  }
  const p = inverted(gram);
  const likes = [2, 7];
  const scores = new Float64Array(ITEMS);
  new Ease(timeline, counts, before).score(likes, scores);
  for (let item = 0; item < ITEMS; item++) {
    const expected = -(p[2]![item]! + p[7]![item]!) / p[item]![item]!;
    expect(scores[item]).toBeCloseTo(expected, 10);
  }
});
