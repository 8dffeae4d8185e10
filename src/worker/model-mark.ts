import type { AlsSettings } from '../model/als/settings.ts';
import type { LogisticRegression } from '../model/logistic.ts';

/** Name of the saved model among the cache's large values, and of the mark beside it. */
export const MODEL_NAME = 'collaborative';

/** What is told of the saved model without reading it. */
export interface ModelMark {
  readonly generation: number;
  /** Of the data that it was trained on, see `fingerprint`. */
  readonly fingerprint: number;
  /** The settings that were asked for. */
  readonly settings: AlsSettings;
}

/** Names of what else a fit saves. */
export const CLICK_NAME = 'click-through';
/** Without what was held out: it is trained again, with everything, for as long as this one was. */
export const JUDGED_CLICK_NAME = 'click-through-judged';
export const NEIGHBORS_NAME = 'item-neighbors';
export const WEIGHTS_NAME = 'item-weights';
export const GENERATION_NAME = 'generation';

/** Written last: what belongs together. A part that is not named is of another generation and not used. */
export interface GenerationMark {
  readonly generation: number;
  readonly hasClickThrough: boolean;
  readonly hasItemNeighbors: boolean;
  readonly hasItemWeights: boolean;
  readonly ranking: LogisticRegression | undefined;
  /** The configuration that the parts were learnt with, as text. */
  readonly learntWith: string;
}
