import { loadKernels } from '../../src/kernel/load-kernels.ts';
import {
  createNeighborTask,
  finishTasks,
  runNeighborTask,
} from '../../src/model/neighbors/fill-neighbor-table.ts';
import { itemsByUsers } from '../../src/model/neighbors/incidence.ts';
import { placeSimilarity } from '../../src/model/neighbors/memory-layout.ts';
import { createDraft } from '../../src/model/neighbors/neighbor-table.ts';
import { placeSlim } from '../../src/model/slim/memory-layout.ts';
import { slimSettings } from '../../src/model/slim/settings.ts';
import { slimTable } from '../../src/model/slim/train-and-serve.ts';
import { type Row, ratioRow } from '../http/statistics.ts';
import { powerLaw } from '../models/power-law.ts';
import { learnSlim } from '../quality/phase-workers.ts';

const K = 100;

/** The whole tables of a set shaped as Gowalla is: neighbors by common users, and the sparse linear model. */
export async function benchTables(divisor: number): Promise<Row[]> {
  const [users, items, pairs] = [29_858, 40_981, 810_000].map((size) => Math.ceil(size / divisor));
  const { train } = powerLaw(users!, items!, pairs!, 1, 5);
  const shape = `${users} x ${items}, ${train.count} pairs`;
  const started = performance.now();
  const similarity = placeSimilarity(itemsByUsers(train));
  const task = createNeighborTask(similarity, createDraft(train.itemCount, K));
  runNeighborTask(task, loadKernels(similarity.memory), 0);
  const table = finishTasks([task], 0);
  const neighborS = (performance.now() - started) / 1000;
  const slimS = await fitSlimSeconds(train);
  return [
    row(`item neighbors, top ${K}, ${shape}, 1 thread`, neighborS, `${table.rows.length} entries`),
    row(`sparse linear model, ${shape}, 2 threads`, slimS, '-'),
  ];
}

async function fitSlimSeconds(train: Parameters<typeof placeSlim>[0]): Promise<number> {
  const started = performance.now();
  const task = placeSlim(train, slimSettings({}), 2);
  await learnSlim(task);
  slimTable(task, 0);
  return (performance.now() - started) / 1000;
}

function row(bench: string, furze: number, reference: string): Row {
  return ratioRow(bench, 's', furze, reference, Number.NaN);
}
