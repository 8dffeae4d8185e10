// Seconds an epoch and NDCG@10 by solver and number of factors, on a seeded set: npx tsx bench/quality/solvers.ts
import { parseArgs } from 'node:util';
import { alsCourse } from '../../src/model/als/epochs-and-early-stopping.ts';
import { type AlsStart, placeAls } from '../../src/model/als/memory-layout.ts';
import { alsSettings, type ConcreteSolver } from '../../src/model/als/settings.ts';
import { beginPhase } from '../../src/model/part/chunks-for-threads.ts';
import { powerLaw } from '../models/power-law.ts';
import { AlsWorkers } from './als-workers.ts';

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '20000' },
    items: { type: 'string', default: '8000' },
    pairs: { type: 'string', default: '1500000' },
    factors: { type: 'string', default: '16,64,128,256' },
    epochs: { type: 'string', default: '12' },
    workers: { type: 'string', default: '2' },
    regularization: { type: 'string' },
  },
});
const [users, items, pairs, workers] = [values.users, values.items, values.pairs, values.workers].map(Number);
const { train, test } = powerLaw(users!, items!, pairs!, 1, 10);
const heldOut: NonNullable<AlsStart['heldOut']> = {
  userRows: Uint32Array.from(
    { length: test.count },
    ((row) => (_, at) => {
      while (test.byUser.indptr[row + 1]! <= at) row++;
      return row;
    })(0),
  ),
  itemRows: test.byUser.indices,
};
const SOLVERS: readonly { solver: ConcreteSolver; steps: number }[] = [
  { solver: 'cg', steps: 3 },
  { solver: 'cholesky', steps: 1 },
];
const table: Record<string, unknown>[] = [];
for (const factors of values.factors.split(',').map(Number)) {
  for (const { solver, steps } of SOLVERS) {
    const settings = alsSettings({
      factors,
      solver,
      steps,
      epochs: Number(values.epochs),
      ...(values.regularization !== undefined && { regularization: Number(values.regularization) }),
    });
    const task = placeAls(train, settings, workers!, { heldOut });
    const threads = await AlsWorkers.start(task);
    const seconds: number[] = [];
    const reached: number[] = [];
    let spent = 0;
    let judging = 0;
    for (const step of alsCourse(task)) {
      if (step.kind === 'epoch') {
        seconds.push(spent);
        spent = 0;
        if (step.quality !== undefined) reached.push(step.quality.mean);
        continue;
      }
      beginPhase(task);
      const started = performance.now();
      await threads.run(step);
      const took = (performance.now() - started) / 1000;
      if ('side' in step) spent += took;
      else judging += took;
    }
    await threads.close();
    const median = seconds.toSorted((a, b) => a - b)[seconds.length >> 1]!;
    table.push({
      factors,
      solver,
      'epoch, s': median.toFixed(3),
      'judging, share': (judging / seconds.reduce((sum, value) => sum + value, 0)).toFixed(3),
      'NDCG@10 by epoch': reached.map((value) => value.toFixed(4)).join(' '),
    });
    console.log(JSON.stringify(table.at(-1)));
  }
}
console.table(table);
