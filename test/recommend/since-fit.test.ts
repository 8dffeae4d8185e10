import { expect, it } from 'vitest';
import { createRandom } from '../../src/domain/random.ts';
import { Catalogue } from '../../src/recommend/catalogue/catalogue.ts';
import { SinceFit } from '../../src/recommend/neighbors/since-fit.ts';
import { FeedbackColumns } from '../../src/store/data-store.ts';

const ITEMS = 12;

function startWorld() {
  const catalogue = new Catalogue(() => 0);
  const reads = { readItemUsers: (row: number) => Uint32Array.of(row), isPartial: false };
  const sinceFit = new SinceFit(catalogue, reads, () => true);
  const change = (row: number) => {
    catalogue.put({
      ...{ row, itemId: `i${row}`, hidden: false, timestampMs: Number.NaN, categories: [] },
      labels: [`label ${row}`],
    });
    const added = new FeedbackColumns();
    added.push(row, row, 0, 0);
    for (const _ of sinceFit.follow({ added }));
  };
  const rows = Array.from({ length: ITEMS }, (_, row) => row);
  const changed = () => {
    const told = rows.filter((row) => sinceFit.hasChanged(row));
    const news = [
      rows.filter((row) => sinceFit.hasNewsByLabels(row)),
      rows.filter((row) => sinceFit.hasNewsByUsers(row)),
    ];
    expect(news).toEqual([told, told]);
    return told;
  };
  return { sinceFit, change, changed };
}

it('what was imported before a fit of this process began to read has not changed since', () => {
  const { sinceFit, change, changed } = startWorld();
  for (let row = 0; row < 8; row++) change(row);
  sinceFit.beginReading();
  change(8);
  sinceFit.serve(true);
  expect(changed()).toEqual([8]);
  change(9);
  expect(changed()).toEqual([8, 9]);
  sinceFit.beginReading();
  sinceFit.serve(true);
  expect(changed()).toEqual([]);
});

it('of a generation that another node has learned, changes since the one before are not known to be in it', () => {
  const { sinceFit, change, changed } = startWorld();
  change(1);
  sinceFit.serve(false);
  change(2);
  sinceFit.beginReading();
  change(3);
  sinceFit.serve(false);
  expect(changed()).toEqual([2, 3]);
});

it('whatever is read and served, no change is forgotten that what serves does not know', () => {
  const random = createRandom(11);
  for (let world = 0; world < 100; world++) {
    const { sinceFit, change, changed } = startWorld();
    let step = 0;
    const changedAt = new Map<number, number>();
    const [reads, serves] = [[] as number[], [0]];
    let least = 0;
    for (; step < 60; step++) {
      const what = random.below(8);
      if (what === 0) {
        sinceFit.beginReading();
        reads.push(step);
      } else if (what === 1) {
        const isOwn = random.below(2) === 0;
        least = (isOwn ? reads.at(-1) : undefined) ?? serves.at(-1)!;
        sinceFit.serve(isOwn);
        serves.push(step);
        reads.length = 0;
      } else {
        const row = random.below(ITEMS);
        change(row);
        changedAt.set(row, step);
      }
      const unknown = [...changedAt].filter(([, at]) => at >= least).map(([row]) => row);
      expect(changed()).toEqual(expect.arrayContaining(unknown));
    }
  }
});
