import type { Relation } from '../recommend/related.ts';

/** Everything that crosses between the main thread and the workers has its type here. */
export type Job = FitJob | RelatedJob;

/** What every job needs to read the stores by itself. */
export interface StorePaths {
  readonly dataPath: string;
  readonly cachePath: string;
}

export interface FitSettings {
  readonly factors: number;
  readonly epochs: number;
  readonly regularization: number;
  readonly regularizationExponent: number;
  readonly unobservedWeight: number;
  readonly seed: number;
}

/** Trains the collaborative model on all positive feedback, saves it, and makes every user's list. */
export interface FitJob {
  readonly kind: 'fit';
  readonly paths: StorePaths;
  readonly settings: FitSettings;
  readonly positiveTypes: readonly string[];
  /** Positive feedback before this time does not count, milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Feedback after this time is not in effect yet, milliseconds since the epoch. */
  readonly untilMs: number;
  /** Number of the generation to make. */
  readonly generation: number;
  readonly cacheSize: number;
  /** Shared with the main thread, see `JobProgress`. */
  readonly progress: SharedArrayBuffer;
}

export interface FitResult {
  readonly users: number;
  readonly items: number;
  readonly positives: number;
  readonly lists: number;
  readonly seconds: number;
}

/** Finds the rows most like one row by what the store knows. */
export interface RelatedJob {
  readonly kind: 'related';
  readonly paths: StorePaths;
  readonly relation: Relation;
  readonly row: number;
  readonly k: number;
  readonly positiveTypes: readonly string[];
}
