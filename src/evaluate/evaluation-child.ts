import { rmSync } from 'node:fs';
import type { Config } from '../domain/config.ts';
import type { EvaluationReport } from '../domain/evaluation-schemas.ts';
import { type EvaluateOptions, evaluateStore } from './evaluate-store.ts';

/** What the process is asked. */
export interface EvaluationRequest {
  readonly config: Config;
  readonly options: EvaluateOptions;
  /** Where its temporary files are; goes with it. */
  readonly folder: string;
}

/** What it tells: how far it is, then the report or why there is none. */
export type EvaluationMessage =
  | { readonly stage: string; readonly done: number; readonly total: number }
  | { readonly report: EvaluationReport }
  | { readonly error: string };

/*
 * A process of its own, because an evaluation runs a whole service: what it holds in memory is given back when it ends,
 * and it ends with the service that began it, however that one ends.
 */
const tell = (message: EvaluationMessage) => process.send?.(message);

let used: string | undefined;
process.once('disconnect', () => {
  try {
    if (used !== undefined) rmSync(used, { recursive: true, force: true });
  } finally {
    process.exit(1);
  }
});
process.once('message', async ({ config, options, folder }: EvaluationRequest) => {
  used = folder;
  try {
    const onStage = (stage: string, done: number, total: number) => tell({ stage, done, total });
    tell({ report: await evaluateStore(config, options, undefined, onStage) });
  } catch (error) {
    tell({ error: error instanceof Error ? error.message : String(error) });
  }
});
