import { placeBpr } from '../baselines/bpr/memory.ts';
import { BPR_DEFAULTS, bprSettings } from '../baselines/bpr/settings.ts';
import { type BprPhase, beginBprPhase, bprPhases } from '../baselines/bpr/solver.ts';
import { PhaseWorkers } from '../quality/phase-workers.ts';
import { type ModelCase, timed } from './model-case.ts';
import type { HeldOut } from './power-law.ts';
import type { Reference } from './reference.ts';

/** Epochs of a training, dealing and sorting included; the rates are those that the reference has by default. */
export async function bprCase(
  { train }: HeldOut,
  threads: number,
  reference: Reference | undefined,
): Promise<ModelCase> {
  const { factors } = BPR_DEFAULTS;
  const task = placeBpr(train, bprSettings({ factors, learningRate: 0.01, regularization: 0.01 }));
  const workers = await PhaseWorkers.start<BprPhase>('./bpr-thread', task, threads);
  let epoch = 0;
  const work = async () => {
    for (const phase of bprPhases(task, epoch++)) {
      beginBprPhase(task);
      await workers.run(phase);
    }
  };
  return {
    name: `BPR epoch, f=${factors}, ${threads} threads`,
    aim: '0.7',
    against: 'implicit',
    ours: () => timed(work),
    reference: reference && (() => reference.run('bpr_epoch', { factors })),
    close: () => workers.close(),
  };
}
