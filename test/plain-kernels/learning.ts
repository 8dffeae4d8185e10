import type { FmRows, FmTraining, Kernels } from '../../src/kernel/kernels.ts';
import type { Words } from './words.ts';

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

/** A row's score; `sums` receives Σ v_k x for each factor (Rendle 2010, lemma 3.1). */
function fmScore({ floats, ints }: Words, job: FmRows, row: number, sums: Float64Array): number {
  const starts = job.starts >>> 2;
  let score = floats[job.bias >>> 2]!;
  let squares = 0;
  sums.fill(0);
  for (let e = ints[starts + row]!; e < ints[starts + row + 1]!; e++) {
    const feature = ints[(job.features >>> 2) + e]!;
    const x = job.values ? floats[(job.values >>> 2) + e]! : 1;
    score += x * floats[(job.linear >>> 2) + feature]!;
    for (let k = 0; k < job.f; k++) {
      const product = x * floats[(job.factors >>> 2) + feature * job.f + k]!;
      sums[k]! += product;
      squares += product * product;
    }
  }
  return score + 0.5 * (sums.reduce((all, sum) => all + sum * sum, 0) - squares);
}

/** AdaGrad (Duchi, Hazan, Singer 2011) on the number at an index. */
function adaGrad(
  floats: Words['floats'],
  parameter: number,
  squares: number,
  gradient: number,
  rate: number,
): void {
  floats[squares]! += gradient * gradient;
  floats[parameter]! -= (rate * gradient) / Math.sqrt(floats[squares]!);
}

function fmStep(words: Words, job: FmTraining, row: number, slope: number, sums: Float64Array): void {
  const { floats, ints } = words;
  const { learningRate: rate, f } = job;
  const starts = job.starts >>> 2;
  adaGrad(floats, job.bias >>> 2, job.biasSquares >>> 2, slope, rate);
  for (let e = ints[starts + row]!; e < ints[starts + row + 1]!; e++) {
    const feature = ints[(job.features >>> 2) + e]!;
    const x = job.values ? floats[(job.values >>> 2) + e]! : 1;
    const linear = (job.linear >>> 2) + feature;
    const gradient = slope * x + job.linearRegularization * floats[linear]!;
    adaGrad(floats, linear, (job.linearSquares >>> 2) + feature, gradient, rate);
    for (let k = 0; k < f; k++) {
      const at = feature * f + k;
      const v = floats[(job.factors >>> 2) + at]!;
      const pull = slope * x * (sums[k]! - x * v) + job.factorRegularization * v;
      adaGrad(floats, (job.factors >>> 2) + at, (job.factorSquares >>> 2) + at, pull, rate);
    }
  }
}

export function plainLearningKernels(words: Words): Pick<Kernels, 'fmScoreRows' | 'fmAdaGradRows'> {
  const { floats, ints } = words;
  return {
    fmScoreRows(job) {
      const sums = new Float64Array(job.f);
      for (let row = job.firstRow; row < job.endRow; row++) {
        floats[(job.outScores >>> 2) + row] = fmScore(words, job, row, sums);
      }
    },
    fmAdaGradRows(job) {
      const sums = new Float64Array(job.f);
      let loss = 0;
      for (let place = job.firstRow; place < job.endRow; place++) {
        const row = job.order ? ints[(job.order >>> 2) + place]! : place;
        const score = fmScore(words, job, row, sums);
        const target = floats[(job.targets >>> 2) + row]!;
        floats[(job.outScores >>> 2) + row] = score;
        loss += Math.max(score, 0) + Math.log1p(Math.exp(-Math.abs(score))) - target * score;
        fmStep(words, job, row, sigmoid(score) - target, sums);
      }
      return loss;
    },
  };
}
