import type { AlsSettings } from '../model/als-settings.ts';

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
