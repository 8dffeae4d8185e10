/**
 * The parameters of a second-order factorization machine (Rendle 2010) while it learns: logistic loss by AdaGrad
 * (Duchi, Hazan, Singer 2011). With vectors of zero it is logistic regression.
 */
import type { Random } from '../../domain/random.ts';
import type { FmRows, Kernels } from '../../kernel/kernels.ts';
import { fmScratchBytes, paddedFactors } from '../../kernel/scratch-sizes.ts';
import { type Arena, alignedBytes } from '../../memory/arena.ts';
import type { FmSettings } from './settings.ts';

/** Sums of squared gradients begin here, so that the first steps are not longer than the learning rate allows. */
const INITIAL_SQUARES = 1;
/** Numbers that are initialized between two yields. */
const SLICE = 1 << 18;

/** One bias, a weight and a vector of `paddedFactors(factors)` a feature. */
export interface FmParameters {
  readonly bias: number;
  readonly linear: Float32Array<ArrayBuffer>;
  readonly vectors: Float32Array<ArrayBuffer>;
}

/** Rows in the machine's memory: what `FmRows` says of them. */
export type PlacedRows = Pick<
  FmRows,
  'starts' | 'features' | 'values' | 'firstRow' | 'endRow' | 'outScores'
> & {
  readonly targets: number;
  /** See `FmTraining.order`. */
  readonly order: number;
};

export class FactorizationMachine {
  readonly featureCount: number;
  readonly settings: FmSettings;
  readonly #f: number;
  readonly #arena: Arena;
  readonly #kernels: Kernels;
  readonly #parameters: { readonly bias: number; readonly linear: number; readonly factors: number };
  readonly #squares: { readonly biasSquares: number; linearSquares: number; factorSquares: number };
  readonly #scratch: number;

  /** Bytes that it takes of an arena: 8 a feature and factor. */
  static bytes(featureCount: number, factors: number): number {
    const f = paddedFactors(factors);
    const parameters = [4, featureCount * 4, featureCount * f * 4];
    const sizes = [...parameters, ...parameters, fmScratchBytes(f)];
    return sizes.reduce((sum, size) => sum + alignedBytes(size), 0);
  }

  /** The parameters are zero until `initialize`. */
  constructor(arena: Arena, kernels: Kernels, featureCount: number, settings: FmSettings) {
    this.featureCount = featureCount;
    this.settings = settings;
    this.#arena = arena;
    this.#kernels = kernels;
    this.#f = paddedFactors(settings.factors);
    const floats = (count: number) => arena.alloc(count * 4);
    const vectorLength = featureCount * this.#f;
    this.#parameters = { bias: floats(1), linear: floats(featureCount), factors: floats(vectorLength) };
    this.#squares = {
      biasSquares: floats(1),
      linearSquares: floats(featureCount),
      factorSquares: floats(vectorLength),
    };
    this.#scratch = arena.alloc(fmScratchBytes(this.#f));
  }

  /** Draws the vectors, and forgets what AdaGrad knows. */
  *initialize(random: Random): Generator<void, void> {
    const { factors, initialDeviation, linearOnly } = this.settings;
    this.forget();
    // Vectors that are all zero have zero gradients: they stay, which is the linear model.
    if (linearOnly) return;
    const vectors = this.vectors;
    for (let at = 0; at < vectors.length; at++) {
      if (at % this.#f < factors) vectors[at] = initialDeviation * random.normal();
      if (at % SLICE === SLICE - 1) yield;
    }
  }

  /** Sets AdaGrad's sums back to where they begin. */
  forget(): void {
    const { biasSquares, linearSquares, factorSquares } = this.#squares;
    this.#arena.f32(biasSquares, 1).fill(INITIAL_SQUARES);
    this.#arena.f32(linearSquares, this.featureCount).fill(INITIAL_SQUARES);
    this.#arena.f32(factorSquares, this.featureCount * this.#f).fill(INITIAL_SQUARES);
  }

  /** Takes one step for each row. @returns the sum of the rows' losses before their steps, in nats */
  train(rows: PlacedRows, learningRate: number): number {
    return this.#kernels.fmAdaGradRows({
      ...rows,
      ...this.#parameters,
      ...this.#squares,
      f: this.#f,
      scratch: this.#scratch,
      learningRate,
      linearRegularization: this.settings.linearRegularization,
      factorRegularization: this.settings.regularization,
    });
  }

  /** Writes the rows' logits to `rows.outScores`. */
  score(rows: PlacedRows): void {
    this.#kernels.fmScoreRows({ ...rows, ...this.#parameters, f: this.#f, scratch: this.#scratch });
  }

  get isFinite(): boolean {
    const { bias, linear, factors } = this.#parameters;
    const counts = [
      this.#kernels.countNonFinite(bias, 1),
      this.#kernels.countNonFinite(linear, this.featureCount),
      this.#kernels.countNonFinite(factors, this.featureCount * this.#f),
    ];
    return counts.every((count) => count === 0);
  }

  /** A copy of the parameters as they stand. */
  copy(): FmParameters {
    return {
      bias: this.bias,
      linear: new Float32Array(this.linear),
      vectors: new Float32Array(this.vectors),
    };
  }

  /** Goes back to parameters that `copy` gave, and forgets AdaGrad's sums. */
  restore({ bias, linear, vectors }: FmParameters): void {
    this.bias = bias;
    this.linear.set(linear);
    this.vectors.set(vectors);
    this.forget();
  }

  get bias(): number {
    return this.#arena.f32(this.#parameters.bias, 1)[0]!;
  }

  set bias(value: number) {
    this.#arena.f32(this.#parameters.bias, 1)[0] = value;
  }

  get vectors(): Float32Array<SharedArrayBuffer> {
    return this.#arena.f32(this.#parameters.factors, this.featureCount * this.#f);
  }

  get linear(): Float32Array<SharedArrayBuffer> {
    return this.#arena.f32(this.#parameters.linear, this.featureCount);
  }
}
