import { describe, expect, it } from 'vitest';
import { finish } from '../../../bench/fit-in-thread.ts';
import { createRandom } from '../../../src/domain/random.ts';
import { loadKernels } from '../../../src/kernel/load-kernels.ts';
import { ARENA_START, Arena } from '../../../src/memory/arena.ts';
import { createSharedMemory } from '../../../src/memory/shared-memory.ts';
import { runEpochs } from '../../../src/model/click/epochs-and-early-stopping.ts';
import { FactorizationMachine } from '../../../src/model/click/factorization-machine.ts';
import { FM_DEFAULTS } from '../../../src/model/click/settings.ts';

/** A machine whose every epoch adds 1 to all vectors, or spoils them. */
function world(epochs: number, spoilt: (run: number) => boolean) {
  const settings = { ...FM_DEFAULTS, factors: 4, epochs, patience: 2, learningRate: 0.8 };
  const arena = new Arena(createSharedMemory(ARENA_START + FactorizationMachine.bytes(3, 4)));
  const machine = new FactorizationMachine(arena, loadKernels(arena.memory), 3, settings);
  finish(machine.initialize(createRandom(1)));
  machine.vectors.fill(0);
  const rates: number[] = [];
  const runEpoch = function* (_: number, rate: number) {
    yield;
    rates.push(rate);
    const { vectors } = machine;
    for (let at = 0; at < vectors.length; at++) vectors[at]! += spoilt(rates.length) ? Number.NaN : 1;
    return 0.5;
  };
  return { machine, runEpoch, rates };
}

describe('the epochs of a machine', () => {
  it('go on from the last good parameters at half the rate when one diverges', () => {
    const { machine, runEpoch, rates } = world(4, (run) => run === 3 || run === 4);
    const { parameters, epoch } = finish(runEpochs(machine, runEpoch, null));
    expect(rates).toEqual([0.8, 0.8, 0.8, 0.4, 0.2, 0.2]);
    expect(epoch).toBe(4);
    expect([...new Set(parameters.vectors)]).toEqual([4]);
  });

  it('have a rate that falls linearly, halved from where one diverges', () => {
    const { machine, runEpoch, rates } = world(4, (run) => run === 3);
    finish(runEpochs(machine, runEpoch, null, { done: 0, end: 3, zeroAt: 4 }));
    expect(rates).toEqual([0.8, (0.8 * 3) / 4, (0.8 * 2) / 4, (0.4 * 2) / 4]);
    const { runEpoch: again, rates: later, machine: other } = world(4, () => false);
    finish(runEpochs(other, again, null, { done: 2, end: 4, zeroAt: 4 }));
    expect(later).toEqual([0.8, (0.8 * 1) / 2]);
  });

  it('are given up when no rate is small enough', () => {
    const { machine, runEpoch } = world(4, () => true);
    expect(() => finish(runEpochs(machine, runEpoch, null))).toThrow('diverged');
  });

  it('count a loss far above that of knowing nothing as diverged', () => {
    const { machine, rates, runEpoch } = world(2, () => false);
    const losses = [0.5, 99, 0.5];
    const run = function* (epoch: number, rate: number) {
      yield* runEpoch(epoch, rate);
      return losses[rates.length - 1]!;
    };
    expect([...new Set(finish(runEpochs(machine, run, null)).parameters.vectors)]).toEqual([2]);
    expect(rates).toEqual([0.8, 0.8, 0.4]);
  });

  it('end when the judged loss has not fallen for as long as the patience, with the best', () => {
    const { machine, runEpoch, rates } = world(100, () => false);
    const judged = [0.6, 0.5, 0.55, 0.4, 0.41, 0.45, 0.1];
    const judge = function* () {
      yield;
      return judged[rates.length - 1]!;
    };
    const told: number[] = [];
    const outcome = finish(runEpochs(machine, runEpoch, judge), ({ heldOutLoss }) => told.push(heldOutLoss));
    expect(rates).toHaveLength(6);
    expect(outcome.epoch).toBe(4);
    expect([...new Set(outcome.parameters.vectors)]).toEqual([4]);
    expect([...new Set(told.filter((loss) => !Number.isNaN(loss)))]).toEqual(judged.slice(0, 6));
  });
});
