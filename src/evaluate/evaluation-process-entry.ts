import { rmSync } from 'node:fs';
import type { EvaluationMessage, EvaluationRequest } from '../admin/start-evaluation-process.ts';
import { messageOf } from '../domain/furze-error.ts';
import { evaluateStore } from './evaluate-store.ts';

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
    tell({ error: messageOf(error) });
  }
});
