import type { Preset } from '../../exchange/known-data-sets.ts';

/** Where `furze init` writes, and what the files come from. */
export interface Places {
  readonly config: string;
  readonly data: string;
  readonly from: Preset;
}

/** Facts about a set-up beside the answers. */
export interface SetUpOptions extends Places {
  /** One JSON object on standard output and nothing else. */
  readonly json: boolean;
  /** Longest wait for another process that has the folders, seconds. */
  readonly lockWait: number;
}
