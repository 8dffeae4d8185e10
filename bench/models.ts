// The aims of training and batch work, each in one alternating run against the Python package `implicit`.
// npm run bench:models [-- --smoke | --full] [-- --only TEXT] [-- --rounds 3] [-- --steps N]
// [-- --python PATH]; steps are those of conjugate gradient, the model's own unless told
import { parseArgs } from 'node:util';
import { loadKernels } from '../src/kernel/load-kernels.ts';
import { createSharedMemory } from '../src/memory/shared-memory.ts';
import { median } from './http/statistics.ts';
import { alsEpochCase, alsQualityCase, alsScalingCase } from './models/als-cases.ts';
import { clickScoringCase, clickTrainingCase } from './models/click-cases.ts';
import { neighborCase, topKCase } from './models/kernel-cases.ts';
import type { ModelCase, Times } from './models/model-case.ts';
import { powerLaw } from './models/power-law.ts';
import { Reference } from './models/reference.ts';

const THREADS = 2;
const SEED = 20;
/** The shape of MovieLens-20M; a tenth of its users unless `--full`, with all its items. */
const USERS = 138_000;
const ITEMS = 27_000;
const PAIRS = 20_000_000;
const HOLD_EVERY = 5;

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    steps: { type: 'string' },
    python: { type: 'string', default: 'python3' },
  },
});
const given = options.steps === undefined ? {} : { steps: Number(options.steps) };
const divisor = options.full ? 1 : options.smoke ? 400 : 10;
const rounds = options.smoke ? 1 : Number(options.rounds);

function medians(times: readonly Times[]): Times {
  return { seconds: median(times.map(({ seconds }) => seconds)), cpu: median(times.map(({ cpu }) => cpu)) };
}

async function measure(modelCase: ModelCase): Promise<{ ours: Times; reference: Times }> {
  const { ours, reference, single } = modelCase;
  const times = { ours: [] as Times[], reference: [] as Times[] };
  if (single !== true) {
    await ours();
    await reference?.();
  }
  for (let round = 0; round < (single === true ? 1 : rounds); round++) {
    if (reference !== undefined) times.reference.push(await reference());
    times.ours.push(await ours());
  }
  return { ours: medians(times.ours), reference: medians(times.reference) };
}

function shown(ratio: number): string {
  return Number.isNaN(ratio) ? '-' : ratio.toFixed(ratio < 0.1 ? 3 : 2);
}

function seconds(value: number): string {
  if (Number.isNaN(value)) return '-';
  return value < 0.1 ? `${(value * 1000).toFixed(2)} ms` : `${value.toFixed(2)} s`;
}

const data = powerLaw(
  Math.floor(USERS / divisor),
  options.smoke ? Math.floor(ITEMS / 20) : ITEMS,
  Math.floor(PAIRS / divisor),
  SEED,
  HOLD_EVERY,
);
const { train } = data;
console.log(`kernels: ${loadKernels(createSharedMemory(1)).name}`);
console.log(`${train.userCount} users x ${train.itemCount} items, ${train.count} pairs to train on`);
const reference = await Reference.start(options.python, train, THREADS);
if (reference === undefined) console.log(`${options.python} cannot import implicit: no reference figures`);

const makers: readonly (() => Promise<ModelCase | undefined>)[] = [
  () => alsEpochCase(data, { ...given, factors: 64 }, THREADS, '0.45', reference),
  () => alsEpochCase(data, { ...given, factors: 128 }, THREADS, '0.7', reference),
  async () => alsQualityCase(data, given, THREADS, reference),
  () => topKCase(data, THREADS, reference),
  () => neighborCase(data, THREADS, reference),
  () => alsScalingCase(data, given),
  () => clickScoringCase(options.smoke ? 1000 : 100_000),
  () => clickTrainingCase(data),
];
const table = [];
for (const make of makers) {
  const modelCase = await make();
  if (modelCase === undefined) continue;
  if (modelCase.name.includes(options.only)) {
    const times = await measure(modelCase);
    const ratio = times.ours.seconds / times.reference.seconds;
    const cpuRatio = times.ours.cpu / times.reference.cpu;
    table.push({
      work: modelCase.name,
      ours: seconds(times.ours.seconds),
      reference: seconds(times.reference.seconds),
      against: modelCase.against,
      ratio: shown(ratio),
      'of processor time': shown(cpuRatio),
      aim: modelCase.aim,
      note: modelCase.note?.() ?? '',
    });
  }
  await modelCase.close();
}
reference?.close();
console.table(table);
