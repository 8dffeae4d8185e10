import { fork } from 'node:child_process';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.ts';
import type { EvaluateOptions, EvaluationReport } from '../domain/evaluation-schemas.ts';
import { ownThread } from '../platform/program/thread-entry.ts';

/** Asked for at a click: as the command does without options, but of fewer users and questions, with fewer fits. */
const OPTIONS: EvaluateOptions = {
  protocol: 'both',
  share: 0.2,
  users: 2000,
  questions: 500,
  fits: 1,
  alone: false,
  seed: 1,
};

const ADVICE = 'where memory was not wanting, "furze check" tells whether a page of the data is damaged';

export interface EvaluationRequest {
  readonly config: Config;
  readonly options: EvaluateOptions;
  /** Folder of its temporary files; it goes with the process. */
  readonly folder: string;
}

/** A message of the process: how far it is, then the report or why there is none. */
export type EvaluationMessage =
  | { readonly stage: string; readonly done: number; readonly total: number }
  | { readonly report: EvaluationReport }
  | { readonly error: string };

/** Runs an evaluation; its promise fails with the reason when there is no report. */
export type RunEvaluation = (
  config: Config,
  folder: string,
  onStage: (stage: string, done: number, total: number) => void,
  signal: AbortSignal,
) => Promise<EvaluationReport>;

/**
 * Evaluates in a process of its own that leaves requests their processor time.
 * @param folder what it may use; it has to be there, and is not removed
 * @throws Error with the reason when there is no report
 */
export const evaluateAside: RunEvaluation = async (config, folder, onStage, signal) => {
  const { url, execArgv } = ownThread('evaluate/evaluation-process-entry');
  const child = fork(fileURLToPath(url), [], {
    // What this process was told, such as how large its heap may be, holds for that one.
    execArgv: [...process.execArgv, ...execArgv],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // The first counts on Unix, the others on Windows.
    env: { ...process.env, TMPDIR: folder, TEMP: folder, TMP: folder },
    signal,
    killSignal: 'SIGKILL',
  });
  try {
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // Then it runs like any other.
  }
  let report: EvaluationReport | undefined;
  let reason = 'the process of the evaluation ended before it was done';
  child.on('message', (message: EvaluationMessage) => {
    if ('stage' in message) {
      onStage(message.stage, message.done, message.total);
      return;
    }
    if ('report' in message) report = message.report;
    else reason = message.error;
    child.disconnect();
  });
  // Not `close`, which does not come once this side has disconnected.
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (_, signal) => {
      if (signal !== null) reason = `${signal} ended the process of the evaluation; ${ADVICE}`;
      resolve();
    });
    child.once('error', (error) => {
      reason = error.message;
      if (child.pid === undefined) resolve();
    });
  });
  // A process that could not be begun is told as an error already; an `error` of its own for what is sent to it would end
  // the service.
  const request: EvaluationRequest = { config, options: OPTIONS, folder };
  if (child.connected) child.send(request, () => {});
  await ended;
  if (report === undefined) throw new Error(reason);
  return report;
};
