// The best items among many by heads of their factors, beside the scan of all: for 64 users at once, and for one.
// npm run bench:heads [-- --smoke] [-- --items 1000000] [-- --factors movietweetings|retail|equal] [-- --length 100]
import { parseArgs } from 'node:util';
import { createRandom } from '../src/domain/random.ts';
import { loadKernels } from '../src/kernel/load-kernels.ts';
import { MfScorer, placeModel } from '../src/model/als/mf-scorer.ts';
import { median, ownCpuMs, printRows, ratioRow } from './http/statistics.ts';
import { isFactorShape, learnedFactors } from './lists/learned-factors.ts';

const { values: options } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    items: { type: 'string', default: '1000000' },
    factors: { type: 'string', default: 'movietweetings' },
    length: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '5' },
  },
});
const itemCount = options.smoke ? 5000 : Number(options.items);
const rounds = options.smoke ? 1 : Number(options.rounds);
const length = Number(options.length);
const shape = options.factors;
if (!isFactorShape(shape)) throw new RangeError(`--factors ${shape} is not known`);
const [f, userCount, likes] = [64, 64, 145];

const random = createRandom(2);
const userFactors = learnedFactors(shape, { rows: userCount, f, largest: 0.8, of: 'users' }, random);
const falling = learnedFactors(shape, { rows: itemCount, f, largest: 0.8, of: 'items' }, random);
// Items come in no order of their norms.
const order = Uint32Array.from({ length: itemCount }, (_, row) => row);
for (let row = itemCount - 1; row > 0; row--) {
  const other = random.below(row + 1);
  [order[row], order[other]] = [order[other]!, order[row]!];
}
const itemFactors = new Float32Array(falling.length);
order.forEach((from, row) => {
  itemFactors.set(falling.subarray(from * f, from * f + f), row * f);
});
const settings = { factors: f, regularization: 0.01, unobservedWeight: 0.1, regularizationExponent: 1 };
const model = { ...settings, seed: 1, fingerprint: 1, quality: {}, userCount, itemCount };
const placed = placeModel({ ...model, userFactors, itemFactors }, loadKernels, 1, userCount * length);
const ways = { plain: { ...placed, headed: false }, heads: placed };
const kernels = loadKernels(placed.memory);
const allowed = new Uint32Array(Math.ceil(itemCount / 32)).fill(0xffffffff);
const read = Array.from({ length: likes }, () => random.below(itemCount)).sort((a, b) => a - b);
const asked = Array.from({ length: userCount }, (_, user) => ({
  vector: userFactors.slice(user * f, user * f + f),
  read,
}));

const timesMs: Record<'many' | 'one', Record<keyof typeof ways, number[]>> = {
  many: { plain: [], heads: [] },
  one: { plain: [], heads: [] },
};
const lists = new Set<string>();
for (let round = 0; round <= rounds; round++)
  for (const way of ['plain', 'heads'] as const) {
    const scorer = new MfScorer(ways[way], kernels);
    const began = ownCpuMs();
    const many = scorer.recommendMany(asked, length, allowed);
    const between = ownCpuMs();
    const one = asked.map(({ vector }) => scorer.recommend(vector, length, read, allowed).itemRows);
    const ended = ownCpuMs();
    lists.add(many.join()).add(one.join());
    // The first warms up.
    if (round === 0) continue;
    timesMs.many[way].push((between - began) / userCount);
    timesMs.one[way].push((ended - between) / userCount);
  }
if (lists.size > 1) throw new Error('the lists differ');
const made = placed.headed ? 'heads' : 'no heads, for norms are too alike';
process.stdout.write(
  `best ${length} of ${itemCount} items, factors as of ${shape}: ${made}; ${(placed.memory.buffer.byteLength / 1e6).toFixed(0)} MB\n`,
);
printRows(
  (['many', 'one'] as const).map((of) => {
    const name = `a user, ${of === 'many' ? 'of 64 at once' : 'alone'}, processor time`;
    const [heads, plain] = [median(timesMs[of].heads), median(timesMs[of].plain)];
    return ratioRow(name, 'ms', heads, 'the scan of all, ms', plain, '<= 1');
  }),
);
