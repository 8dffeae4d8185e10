import { fmScratchBytes } from '../../src/kernel/scratch-sizes.ts';
import { type CaseContext, type CaseMaker, filled, floats, putRows, sparseRows } from './kernel-case.ts';

function factorizationMachine(context: CaseContext) {
  const [rows, features, f] = [
    Math.floor(40_000 / context.divisor),
    Math.floor(50_000 / context.divisor),
    16,
  ];
  const { arena } = context;
  const lists = sparseRows(context, rows, features, 20);
  const { starts, columns, entries } = putRows(context, lists);
  const model = {
    bias: floats(context, 1),
    linear: floats(context, features),
    factors: floats(context, features * f),
  };
  const targets = filled(context, rows, 1);
  const squares = [1, features, features * f].map((n) => filled(context, n, 0.1)) as [number, number, number];
  const [biasSquares, linearSquares, factorSquares] = squares;
  const rates = { learningRate: 0.05, linearRegularization: 1e-4, factorRegularization: 1e-4 };
  const io = { outScores: arena.alloc(rows * 4), scratch: arena.alloc(fmScratchBytes(f)), targets, order: 0 };
  const job = {
    starts,
    features: columns,
    values: 0,
    firstRow: 0,
    endRow: rows,
    f,
    ...model,
    ...io,
    ...rates,
  };
  const head = [starts, columns, rows, model.bias, model.linear, model.factors, f];
  return { job: { ...job, biasSquares, linearSquares, factorSquares }, head, squares, entries };
}

export const factorizationScores: CaseMaker = (context) => {
  const { job, head, entries } = factorizationMachine(context);
  return {
    name: `FM scores, ${job.endRow} rows of 20, f=${job.f}`,
    operations: entries * job.f * 6,
    run: (kernels) => kernels.fmScoreRows(job),
    native: { name: 'fm-score-rows', numbers: [...head, job.outScores] },
  };
};

export const factorizationTraining: CaseMaker = (context) => {
  const { job, head, squares, entries } = factorizationMachine(context);
  const rates = [job.learningRate, job.linearRegularization, job.factorRegularization];
  return {
    name: `FM AdaGrad, ${job.endRow} rows of 20, f=${job.f}`,
    operations: entries * job.f * 14,
    run: (kernels) => kernels.fmAdaGradRows(job),
    native: { name: 'fm-ada-grad-rows', numbers: [...head, job.targets, ...squares, ...rates] },
  };
};
